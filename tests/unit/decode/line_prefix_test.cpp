// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "decode/prefix_stripper.h"

using namespace stapgen::decode;

namespace {

std::string fed(PrefixStripper& foreign, const std::string& text) {
    std::string out;
    foreign.feed(text, [&](std::string_view lines, std::string_view /*source*/) { out += lines; });
    return out;
}

std::string unprefixed(const std::string& text) {
    PrefixStripper foreign;
    auto out = fed(foreign, text);
    foreign.finish([&](std::string_view lines, std::string_view /*source*/) { out += lines; });
    return out;
}

/// "n1: LINES n2: LINES".
std::string by_source(const std::string& text) {
    PrefixStripper foreign;
    std::string out;
    const auto take = [&](std::string_view lines, std::string_view source) {
        out += fmt::format("{}: {} ", source, std::count(lines.begin(), lines.end(), '\n'));
    };
    foreign.feed(text, take);
    foreign.finish(take);
    return out;
}

std::string event(const std::string& name) {
    return name +
           " 1747 [003]  5123.000017: skb:kfree_skb: skbaddr=0xffff8881 protocol=2048 location=0xffffffff8149a8ed\n";
}

}  // namespace

TEST_CASE("what is before each line is taken off, also of lines that hold nothing else") {
    CHECK(unprefixed("web-1  | Kernel monitoring activated.\n"
                     "web-1  | 3 drops at icmp_rcv+12d (0xffffffff8176ac9d)\n"
                     "web-1  |\n"
                     "web-1  | 7 drops at icmp_rcv+12d (0xffffffff8176ac9d)\n") ==
          "Kernel monitoring activated.\n3 drops at icmp_rcv+12d (0xffffffff8176ac9d)\n\n"
          "7 drops at icmp_rcv+12d (0xffffffff8176ac9d)\n");
}

TEST_CASE("grep's numbers stand at the names of some processes and apart from those of others") {
    CHECK(unprefixed("drops-1.log:8:" + event("kworker/0:1-eve") + "drops-1.log:9:" + event("         wget") +
                     "drops-1.log:12:" + event("    <idle>")) ==
          event("kworker/0:1-eve") + event("wget") + event("<idle>"));
}

TEST_CASE("the words of a container's log are no process's, and a process's name of two words stays whole") {
    const std::string stamp = "2026-11-17T00:26:00.123456789Z stdout F ";
    CHECK(unprefixed(stamp + event("wget") + stamp + event("Web Content") + stamp + event("nc")) ==
          event("wget") + event("Web Content") + event("nc"));
    const auto names = event("Web Content") + event("CPU 0/KVM") + event("kworker/0:1-eve");
    CHECK(unprefixed(names) == names);
}

TEST_CASE("a line that is not like the first ones keeps what it begins with") {
    const std::string row = "2 drops at icmp_rcv+12d (0xffffffff8176ac9d)\n";
    PrefixStripper foreign;
    for (int i = 1; i < 64; ++i)
        fed(foreign, std::to_string(i) + ": " + row);
    CHECK(fed(foreign, "64: " + row).ends_with(row + row));
    CHECK(fed(foreign, "65: " + row + row + "eth0: " + row) == row + row + "eth0: " + row);
}

// AddressSanitizer sees a flag that is read behind the last word of as many.
TEST_CASE("as many lines as a word has bits are learned from, and none behind them") {
    std::string text, plain;
    for (int i = 0; i < 64; ++i) {
        plain += fmt::format("{} drops at icmp_rcv+12d (0xffffffff8176ac9d)\n", 2 + i % 3);
        text += fmt::format("web17 {} drops at icmp_rcv+12d (0xffffffff8176ac9d)\n", 2 + i % 3);
    }
    CHECK(unprefixed(text) == plain);
    CHECK(unprefixed("").empty());
}

TEST_CASE("a line of which a prefix leaves no more than the end of a tag does not have it") {
    const std::string stamp = "Nov 17 00:59:32 gate perf[4711]: ";
    const std::string foreign = "a drop at 3 3</code></pre>\n";
    CHECK(unprefixed(stamp + "7 drops at icmp_rcv+12d (0xffffffff8176ac9d)\n" + stamp +
                     "Kernel monitoring activated.\n" + stamp +
                     "3 drops at icmp_rcv+12d (0xffffffff8176ac9d)</code></pre>\n" + foreign)
              .ends_with(foreign));
}

TEST_CASE("a count of uniq -c stays in its columns and the number of a line goes") {
    const std::string rows[]{"4 drops at a+1 (0xffffffff8176ac9d)\n", "1 drops at b+1 (0xffffffff8176ac9e)\n",
                             "2 drops at c+1 (0xffffffff8176ac9f)\n"};
    const auto with = [&](const std::string& a, const std::string& b, const std::string& c) {
        return a + rows[0] + b + rows[1] + c + rows[2];
    };
    const auto plain = with("", "", ""), counted = with("    812 ", "     55 ", "      3 ");
    CHECK(unprefixed(counted) == counted);
    CHECK(unprefixed(with("812 ", "55 ", "3 ")) == counted);
    CHECK(unprefixed(with("Nov 17 gate perf: 812 ", "Nov 17 gate perf: 55 ", "Nov 17 gate perf: 3 ")) == counted);
    // Also those that are sorted by them.
    CHECK(unprefixed(with("3 ", "55 ", "812 ")) == with("      3 ", "     55 ", "    812 "));
    CHECK(unprefixed(with("7 ", "8 ", "9 ")) == plain);
    CHECK(unprefixed(with("     1\t", "     4\t", "    12\t")) == plain);
    CHECK(unprefixed(with("     1  ", "     4  ", "    12  ")) == plain);
    // A date's year, and seconds since 1970.
    CHECK(unprefixed(with("Tue Nov 17 2020 ", "Tue Nov 17 2020 ", "Tue Nov 17 2020 ")) == plain);
    CHECK(unprefixed(with("1795208074 ", "1795208077 ", "1795208079 ")) == plain);
    // What another word has behind it is not known: such lines are told, not read.
    CHECK(unprefixed(with("cpu 812 ", "cpu 55 ", "cpu 3 ")) == with("812 ", "55 ", "3 "));
}

TEST_CASE("whether numbers may be counts after all is said") {
    PrefixStripper foreign;
    const std::string row = " 4 drops at a+1 (0xffffffff8176ac9d)\n";
    fed(foreign, "1" + row + "2" + row + "3" + row);
    foreign.finish([](std::string_view /*lines*/, std::string_view /*source*/) {});
    CHECK(foreign.remark().find("grow by one") != std::string_view::npos);
}

TEST_CASE("lines come with the host, container or file that their prefix names, and with no time, level or number") {
    const std::string row = "3 drops at a+1 (0xffffffff8176ac9d)\n";
    const auto with = [&](const std::string& a, const std::string& b, const std::string& c) {
        return a + row + b + row + c + row;
    };
    CHECK(by_source(with("n1: ", "n1: ", "n2: ")) == "n1: 2 n2: 1 ");
    CHECK(by_source(with("10.0.0.1: ", "10.0.0.2: ", "10.0.0.1: ")) == "10.0.0.1: 1 10.0.0.2: 1 10.0.0.1: 1 ");
    CHECK(by_source(with("web-1  | ", "db-1   | ", "db-1   | ")) == "web-1: 1 db-1: 2 ");
    CHECK(by_source(with("[pod/a/app] ", "[pod/b/app] ", "[pod/b/app] ")) == "pod/a/app: 1 pod/b/app: 2 ");
    CHECK(by_source(with("Nov 17 00:59:31 gate perf[47]: ", "Nov 17 00:59:32 gate perf[48]: ",
                         "Dec 17 00:59:32 gate perf[48]: ")) == "gate: 3 ");
    CHECK(by_source(with("2026-11-17T00:26:00Z stdout F ", "2026-11-17T00:26:01Z stderr F ",
                         "2026-11-17T00:26:02Z stdout F ")) == ": 3 ");
    CHECK(by_source(with("before.txt:1:", "before.txt:2:", "after.txt:1:")) == ": 3 ");
}

TEST_CASE("no-break spaces are blanks") {
    CHECK(unprefixed("3\xc2\xa0"
                     "drops at location\xc2\xa0"
                     "0xffffffff8176ac9d\n") == "3 drops at location 0xffffffff8176ac9d\n");
}
