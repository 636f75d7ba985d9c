// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "decode/prefix_stripper.h"

using namespace stapgen::decode;

namespace {

std::string unprefixed(const std::string& text) {
    PrefixStripper foreign;
    std::string out(foreign.feed(text));
    return out.append(foreign.finish());
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
        foreign.feed(std::to_string(i) + ": " + row);
    CHECK(foreign.feed("64: " + row).ends_with(row + row));
    CHECK(foreign.feed("65: " + row + row + "eth0: " + row) == row + row + "eth0: " + row);
}

TEST_CASE("a line of which a prefix leaves no more than the end of a tag does not have it") {
    const std::string stamp = "Nov 17 00:59:32 gate perf[4711]: ";
    const std::string foreign = "a drop at 3 3</code></pre>\n";
    CHECK(unprefixed(stamp + "7 drops at icmp_rcv+12d (0xffffffff8176ac9d)\n" + stamp +
                     "Kernel monitoring activated.\n" + stamp +
                     "3 drops at icmp_rcv+12d (0xffffffff8176ac9d)</code></pre>\n" + foreign)
              .ends_with(foreign));
}

TEST_CASE("no-break spaces are blanks") {
    CHECK(unprefixed("3\xc2\xa0"
                     "drops at location\xc2\xa0"
                     "0xffffffff8176ac9d\n") == "3 drops at location 0xffffffff8176ac9d\n");
}
