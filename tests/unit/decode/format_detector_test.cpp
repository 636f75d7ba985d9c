// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/format_detector.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "base/text.h"
#include "decode/prompt_stripper.h"
#include "decode/remarks.h"
#include "decoded_text.h"

using namespace stapgen::decode;
using namespace std::string_view_literals;

namespace {

constexpr std::array texts{"stage-timing-terminal.txt",
                           "stage-timing-file.txt",
                           "tracker.txt",
                           "dropwatch-2009.txt",
                           "dropwatch-2010.txt",
                           "dropwatch-2020.txt",
                           "dropwatch-2023.txt",
                           "dropwatch-2025.txt",
                           "dropwatch-tool.txt",
                           "dropwatch-tool-packets.txt",
                           "perf-script.txt",
                           "ftrace.txt",
                           "ftrace-latency.txt",
                           "ftrace-cut.txt",
                           "perf-trace.txt",
                           "perf-trace-net.txt",
                           "net-events.txt",
                           "pwru.txt",
                           "pwru-2021.txt",
                           "pwru-2024.txt",
                           "tcpdrop.txt",
                           "bpftrace.txt",
                           "netdev-times.txt",
                           "counters-nstat.txt",
                           "counters-netstat.txt",
                           "counters-netstat-1.60.txt",
                           "counters-proc.txt",
                           "counters-ip.txt",
                           "counters-ip-old.txt",
                           "counters-ifconfig.txt"};

constexpr std::string_view recording =
    "stapgen\t2\ttx-latency\ttx\ttime:time\tapp-tcp:stage\n"
    "ready\t1795180848778419768\t43788213014\n"
    "tx\t43788213015\t1234\n"
    "tx\t43788213016\t-\n"
    "end\t1795180853107670008\tseen=2\treported=2\n";

/// Each line of `text` as `change` makes it.
template <class Change>
std::string each_line(std::string_view text, Change change) {
    std::string out;
    while (!text.empty()) {
        const auto end = text.find('\n');
        out += change(std::string(text.substr(0, end)));
        out += '\n';
        text.remove_prefix(end + 1);
    }
    return out;
}

}  // namespace

TEST_CASE("prompts, quote marks, colours and line ends of other systems do not hide a line") {
    for (const auto* name : texts) {
        CAPTURE(name);
        const auto text = read_text(name);
        const DecodedText plain(text);
        REQUIRE(plain.lines.size() > 2);
        for (const auto& [before, after] : {std::pair{"", "\r"},
                                            {"   \t", "  "},
                                            {"> ", ""},
                                            {"> > ", "\r"},
                                            {"root@host:~# ", ""},
                                            {"[root@host ~]# ", ""},
                                            {"$ ", ""},
                                            {"\x1b[1;31m", "\x1b[0m"},
                                            {"\x1b]0;title\a\x1b[?2004l", ""},
                                            {"^C", ""}}) {
            CAPTURE(before);
            const DecodedText decoded(
                each_line(text, [&](const std::string& line) { return line.empty() ? line : before + line + after; }));
            CHECK(decoded.text() == plain.text());
            CHECK(decoded.detector.input().unrecognised == plain.detector.input().unrecognised);
        }
    }
}

TEST_CASE("noise between the lines is counted with number, reason and text, and changes nothing else") {
    for (const auto* name : texts) {
        CAPTURE(name);
        const auto text = read_text(name);
        const DecodedText plain(text);
        std::int64_t lines = 0;
        const DecodedText decoded(each_line(text, [&](const std::string& line) {
            ++lines;
            return line + "\n-- a line of noise: 3 = 4";
        }));
        const auto& input = decoded.detector.input();
        CHECK(decoded.detector.sources().size() == plain.detector.sources().size());
        CHECK(input.lines == 2 * lines);
        CHECK(input.unrecognised == plain.detector.input().unrecognised + lines);
        // The tracker tells the numbers of its lines. Between the calls of a stack it may be in the place of calls.
        const bool has_stacks = stapgen::base::contains_word("pwru-2024.txt tcpdrop.txt bpftrace.txt", name);
        if (name != "tracker.txt"sv && !has_stacks) CHECK(decoded.text() == plain.text());
        if (has_stacks) CHECK(decoded.lines.size() == plain.lines.size());
        if (has_stacks) CHECK(decoded.lines.back() == plain.lines.back());
        REQUIRE(input.first_flaws.size() == 5 - (lines < 5 ? 1 : 0));
    }
    const DecodedText decoded("one\n" + std::string(200, 'x') + "\n\nthree\n");
    const auto& flaws = decoded.detector.input().first_flaws;
    REQUIRE(flaws.size() == 3);
    CHECK(flaws[0].number == 1);
    CHECK(flaws[0].flaw == Flaw::unknown_kind);
    CHECK(flaws[0].excerpt == "one");
    CHECK(flaws[1].excerpt == std::string(80, 'x'));
    CHECK(flaws[2].number == 4);
    CHECK(decoded.detector.sources().empty());
}

TEST_CASE("a line with the tag of a recording says what is wrong with it") {
    const DecodedText decoded("stapgen\t4\town\tcall\ttime:time\ttook:stage\ncall\t5\ncall\tx\t7\ncalls\t5\t7\n");
    const auto& flaws = decoded.detector.input().first_flaws;
    REQUIRE(flaws.size() == 3);
    CHECK(flaws[0].flaw == Flaw::field_count);
    CHECK(flaws[0].number == 2);
    CHECK(flaws[1].flaw == Flaw::bad_number);
    CHECK(flaws[2].flaw == Flaw::unknown_kind);
}

TEST_CASE("fed in pieces of whole lines it is the same") {
    std::string all(recording);
    for (const auto* name : texts)
        all += read_text(name);
    const DecodedText whole(all);
    struct InPieces : DecodedText {
        explicit InPieces(std::string_view text) : DecodedText("") {
            while (!text.empty()) {
                const auto end = text.find('\n') + 1;
                detector.feed(text.substr(0, end), *this);
                text.remove_prefix(end);
            }
            detector.finish("", *this);
        }
    };
    const InPieces pieces(all);
    CHECK(pieces.text() == whole.text());
    CHECK(whole.detector.sources().size() == 12);
    CHECK(pieces.detector.input().recognised == whole.detector.input().recognised);
}

TEST_CASE("recordings of ours one behind the other are sources of their own") {
    const DecodedText decoded(std::string(recording) + "noise\n" + std::string(recording) + "> tx\t43788213017\t7\n");
    const auto& sources = decoded.detector.sources();
    REQUIRE(sources.size() == 2);
    CHECK(sources[0]->importer == "stapgen");
    CHECK(sources[1]->title == "stapgen tx-latency");
    CHECK(sources[0]->header != sources[1]->header);
    CHECK(decoded.detector.input().recognised == 11);
    CHECK(decoded.detector.input().unrecognised == 1);
    CHECK(std::ranges::count(decoded.lines, "tx time=43788213016") == 2);
    CHECK(decoded.lines.back() == "tx time=43788213017 app-tcp=7");
}

TEST_CASE("a recording goes on behind the header of another one") {
    const DecodedText decoded(std::string(recording) +
                              "stapgen\t2\trx-latency\trx\ttime:time\tdrv-ip:stage\n"
                              "rx\t43788213017\t5\n"
                              "tx\t43788213018\t7\n");
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(decoded.lines.back() == "tx time=43788213018 app-tcp=7");
}

TEST_CASE("there is an end to the number of recordings that are kept apart") {
    std::string text;
    for (std::size_t i = 0; i < FormatDetector::max_recordings + 3; ++i)
        text += recording;
    const DecodedText decoded(text);
    CHECK(decoded.detector.sources().size() == FormatDetector::max_recordings);
    CHECK(decoded.detector.input().unrecognised >= 3);
    CHECK(decoded.detector.input().first_flaws[0].flaw == Flaw::second_header);
}

TEST_CASE("a recording that cannot be read says why, and where") {
    const DecodedText newer("\nnoise\nstapgen\t6\ttx-latency\ttx\ttime:time\ntx\t5\n");
    CHECK(newer.detector.sources().empty());
    REQUIRE(newer.detector.refusal());
    CHECK(newer.detector.refusal()->what == "line 3 has format version 6; this stapgen reads versions up to 5");
    CHECK(newer.detector.input().first_flaws[1].flaw == Flaw::newer_version);
    // One that can be read is read all the same.
    const DecodedText both("stapgen\t6\ttx-latency\ttx\ttime:time\n" + std::string(recording));
    CHECK(both.detector.refusal());
    CHECK(both.detector.sources().size() == 1);
}

TEST_CASE("messages of stap are handed on, and are no noise") {
    const DecodedText decoded(
        "Pass 5: starting run.\nMonitoring for dropped packets\nWARNING: Number of errors: 0, skipped probes: 37\n"
        "\x1b[31mERROR: probe overhead exceeded threshold\x1b[0m\nPass 5: run completed in 10usr/30sys/8123real ms.\n"
        "stapgen: measuring; Ctrl-C ends it\n");
    CHECK(decoded.messages == std::vector<std::string>{"Pass 5: starting run.",
                                                       "WARNING: Number of errors: 0, skipped probes: 37",
                                                       "ERROR: probe overhead exceeded threshold",
                                                       "Pass 5: run completed in 10usr/30sys/8123real ms."});
    CHECK(decoded.detector.input().recognised == 6);
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("blank lines and bare prompts are recognised, commands behind a prompt are not") {
    const DecodedText decoded(
        "\n  \t\r\n$\n[root@host ~]# \nroot@host:~#\n\x1b[32mdropwatch>\x1b[0m \n^C\nroot@host:~# ls\na b c>\n");
    CHECK(decoded.detector.input().recognised == 7);
    CHECK(decoded.detector.input().unrecognised == 2);
    CHECK(decoded.detector.sources().empty());
}

TEST_CASE("a last line without its end may have been cut short") {
    const DecodedText cut("Monitoring for dropped packets\n13 packets dropped at unix_stream_re");
    CHECK(cut.detector.input().unrecognised == 1);
    REQUIRE(cut.detector.input().first_flaws.size() == 1);
    CHECK(cut.detector.input().first_flaws[0].flaw == Flaw::no_line_end);
    CHECK(cut.detector.input().first_flaws[0].number == 2);
    const DecodedText whole("13 packets dropped at nf_hook_slow+0x3b/0xc0 [nf_tables]");
    CHECK(whole.lines.back() == "drop location=nf_hook_slow+0x3b/0xc0 [nf_tables] reason=-1 count=13");
    CHECK(whole.detector.input().recognised == 1);
    const DecodedText ours(recording.substr(0, recording.size() - 1));
    CHECK(ours.detector.input().unrecognised == 1);
    CHECK(DecodedText("root@host:~# ").detector.input().recognised == 1);
}

TEST_CASE("any bytes may be fed, and every line is counted once") {
    std::string all(recording);
    for (const auto* name : texts)
        all += read_text(name);
    std::mt19937 random(1009);
    const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    constexpr std::string_view favourites = "\n\n \t\b\r\x1b[](){}|#$>%:=.,-+0123456789abcdefx\xff\x00"sv;
    constexpr std::array numbers{"9223372036854775807"sv,  "-9223372036854775808"sv, "99999999999999999999"sv, "0"sv,
                                 "4611686018.427387903"sv, "9223372036.854775807"sv};
    for (int round = 0; round < 127; ++round) {
        std::string text = all;
        for (std::size_t change = 0; change < 67; ++change) {
            const auto at = below(text.size());
            switch (below(4)) {
                case 0:
                    text[at] = favourites[below(favourites.size())];
                    break;
                case 1:
                    text.erase(at, below(9));
                    break;
                case 2:
                    text.insert(at, text.substr(below(text.size()), below(67)));
                    break;
                default: {
                    const auto digit = std::min(text.find_first_of("0123456789", at), text.size());
                    const auto end = std::min(text.find_first_not_of("0123456789.", digit), text.size());
                    text.replace(digit, end - digit, numbers[below(numbers.size())]);
                }
            }
        }
        const DecodedText decoded(text);
        const auto lines = std::ranges::count(text, '\n') + (text.back() == '\n' ? 0 : 1);
        CHECK(decoded.detector.input().lines == lines);
        // Not all of it can have become unreadable.
        CHECK(decoded.detector.input().recognised > 0);
    }
}

TEST_CASE("a record that was broken is joined with just what it lacks, whatever is fed at once") {
    constexpr std::string_view head = "wget 12 [003] 5123.000000: skb:kfree_skb: skbaddr=0xffff8800c4574400";
    constexpr std::string_view place = "protocol=2048 location=tcp_v4_rcv+0x1f/0x90", reason = "reason: NO_SOCKET";
    const auto join = [](auto... parts) { return ((std::string(parts) + '\n') + ...); };
    const auto whole = std::string(head) + ' ' + std::string(place) + ' ' + std::string(reason) + '\n';
    const DecodedText expected(whole + whole);
    const auto cut = std::string(head.substr(0, 60));
    for (const auto& text :
         {join(head, place, reason), join(std::string(head) + ' ' + std::string(place), reason),
          "> " + std::string(head) + "\n> " + std::string(place) + "\n> " + std::string(reason) + '\n',
          join(cut, std::string(head.substr(60)) + ' ' + std::string(place) + ' ' + std::string(reason)),
          join(cut + "=", std::string(head.substr(60)) + ' ' + std::string(place) + "=", ' ' + std::string(reason))}) {
        CAPTURE(text);
        CHECK(DecodedText(text + text).text() == expected.text());
        DecodedText pieces("");
        for (std::string_view rest = text; !rest.empty();) {
            const auto end = rest.find('\n') + 1;
            pieces.detector.feed(rest.substr(0, end), pieces);
            rest.remove_prefix(end);
        }
        pieces.detector.finish("", pieces);
        CHECK(pieces.text() == DecodedText(whole).text());
        CHECK(pieces.detector.input().unrecognised == 0);
        CHECK(pieces.detector.input().lines == std::ranges::count(text, '\n'));
    }
    const DecodedText other(join(head, "and then it hung", head, "location=0xffffffff8149a8ed protocol=2048 thanks"));
    CHECK(other.lines.empty());
    REQUIRE(other.detector.input().first_flaws.size() == 4);
    CHECK(other.detector.input().first_flaws[0].flaw == Flaw::broken_off);
    CHECK(other.detector.input().first_flaws[1].flaw == Flaw::unknown_kind);
}

TEST_CASE("an unread line that may count losses is counted, and among those that are shown") {
    for (const auto* line : {"rx_dropped=17", "    3,300 packet receive errors, look!", "rx missed errors: (5)"}) {
        CAPTURE(line);
        CHECK(may_count_losses(line));
    }
    for (const auto* line :
         {"rx_dropped=0", "3300 packets", "0 errors in 00,0", "eth0 drops packets", "error -1x", ""}) {
        CAPTURE(line);
        CHECK_FALSE(may_count_losses(line));
    }
    std::string text;
    for (int i = 1; i < 10; ++i)
        text += fmt::format("{} {}\n", i, i == 8 ? "were lost" : "were not");
    const DecodedText decoded(text);
    const auto& input = decoded.detector.input();
    CHECK(input.possible_losses == 1);
    REQUIRE(input.first_flaws.size() == 5);
    CHECK(input.first_flaws[3].number == 4);
    CHECK(input.first_flaws[4].excerpt == "8 were lost");
    // An excerpt has whole characters.
    const DecodedText cut(std::string(79, 'x') + "\xc3\xbc\n");
    CHECK(cut.detector.input().first_flaws.at(0).excerpt == std::string(79, 'x'));
}

TEST_CASE("a gap is what a person leaves where lines were") {
    for (const auto* line : {"...", " [...] ", "<snip>", "[snip]", "--- skipped ---", "(16 more frames)", "... 12 more",
                             "\xe2\x80\xa6", ". . .", "[ truncated ]"}) {
        CAPTURE(line);
        CHECK(is_gap(line));
    }
    for (const auto* line :
         {"", "--", "snip", "1...2", "more", "16 more frames", "tcp_v4_rcv+0x9", "[tcp]", "<idle>"}) {
        CAPTURE(line);
        CHECK_FALSE(is_gap(line));
    }
}

TEST_CASE("events that a tool says it lost") {
    CHECK(lost_events("# entries-in-buffer/entries-written: 2/90210   #P:4") == 90208);
    CHECK(lost_events("# entries-in-buffer/entries-written: 26/26   #P:64") == 0);
    CHECK(lost_events("Processed 4711 samples and lost 12.50%!") == 589);
    CHECK(lost_events("swapper     0 [000]  5123.45: PERF_RECORD_LOST lost 17") == 17);
    CHECK(lost_events("entries-written: 2/3") == std::nullopt);
}
