// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>

#include "analyze/merge.h"
#include "summary_of.h"
#include "unit/rows.h"

using namespace stapgen::analyze;
using namespace stapgen::summaries;

namespace {

const std::string call_header =
    "stapgen\t3\tcall-trace\tcall\ttime:time\tcpu:int\ttid:int\tcomm:text\tpacket:int\tdepth:int,depth\t"
    "function:text,key\targs:text\tin-softirq:stage,cpu\tin-thread:stage,thread\nready\t1000007\t7\n";

Summary calls_of(const std::string& text) {
    return summary_of(text, {"function"});
}

std::vector<std::string> functions(const Summary& summary) {
    std::vector<std::string> names;
    for (const auto& call : summary.calls)
        names.push_back(call.function);
    return names;
}

/// As a script prints them, each at its return: two packets, the first on CPU 1 and then in thread 211, which was in
/// its call before.
const std::string two_packets = call_header +
                                "call\t531\t1\t17\tidle\t1\t1\tip_rcv_core\tskb\t11\t-\n"
                                "call\t547\t1\t17\tidle\t1\t1\ttcp_v4_rcv\tskb\t13\t-\n"
                                "call\t557\t1\t17\tidle\t1\t0\tip_rcv\tskb, 0x5\t57\t-\n"
                                "call\t601\t0\t211\ta\\tb\t1\t1\tsk_wait_data\tsk\t-\t500\n"
                                "call\t607\t0\t211\ta\\tb\t1\t0\ttcp_recvmsg\tsk\t-\t600\n"
                                "call\t707\t1\t17\tidle\t2\t0\tip_rcv\tskb\t3\t-\n"
                                "end\t2000000\tseen=6\treported=6\n";

}  // namespace

TEST_CASE("calls stand by packet, then by what ran them, then by when they began") {
    const auto summary = calls_of(two_packets);
    CHECK(functions(summary) ==
          std::vector<std::string>{"tcp_recvmsg", "sk_wait_data", "ip_rcv", "ip_rcv_core", "tcp_v4_rcv", "ip_rcv"});
    const auto& read = summary.calls.at(0);
    CHECK(read.begin_ns == 1000007);  // the clock's 7, which the ready line puts at this moment
    CHECK(read.duration_ns == 600);
    CHECK(read.in_thread());
    CHECK(read.tid == 211);
    CHECK(read.comm == "a\tb");
    const auto& receive = summary.calls.at(2);
    CHECK(receive.begin_ns == 1000500);
    CHECK_FALSE(receive.in_thread());
    CHECK(receive.cpu == 1);
    CHECK(receive.args == "skb, 0x5");
    CHECK(summary.calls.at(5).packet == 2);
    CHECK(summary.calls_left_out == 0);
}

TEST_CASE("durations of calls are statistics by function, and no breakdown: one is a part of another") {
    const auto summary = calls_of(two_packets);
    CHECK(summary.breakdowns.empty());
    const auto of = [&](const std::string& name, const Group& group) {
        return std::ranges::find_if(summary.stages,
                                    [&](const Measure& m) { return m.name == name && m.group == group; });
    };
    CHECK(of("in-softirq", {{"function", "ip_rcv"}})->stats.n() == 2);
    CHECK(of("in-thread", {{"function", "tcp_recvmsg"}})->stats.max() == 600);
}

TEST_CASE("so many calls are kept, with names of bounded length, and the rest is counted") {
    auto text = call_header;
    constexpr std::int64_t calls = Call::about.most + 1009;
    for (std::int64_t i = 0; i < calls; ++i)
        text += fmt::format("call\t{}\t0\t1\tc\t1\t0\t{}\t\t1\t-\n", i + 10,
                            std::string(10007 * (i % 1009 == 0), 'f') + "g");
    const auto summary = calls_of(text);
    CHECK(summary.calls.size() == Call::about.most);
    CHECK(summary.calls_left_out == 1009);
    CHECK(std::ranges::max(summary.calls, {}, [](const Call& call) { return call.function.size(); }).function.size() ==
          256);
}

TEST_CASE("a call of any depth and any time is survived") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    const auto summary = calls_of(call_header + fmt::format("call\t0\t0\t1\tc\t-5\t{0}\tf\t\t{0}\t{0}\n"
                                                            "call\t{0}\t0\t1\tc\t{0}\t-{0}\tg\t\t-\t-\n",
                                                            most));
    REQUIRE(summary.calls.size() == 2);
    CHECK(summary.calls[0].depth == 255);
    CHECK(summary.calls[0].duration_ns == most);
    CHECK(summary.calls[1].depth == 0);
    CHECK(summary.calls[1].duration_ns == 0);
}

TEST_CASE("trees of a further recording get the numbers behind those of the first") {
    auto summary = calls_of(two_packets);
    REQUIRE(merge(summary, calls_of(two_packets)));
    REQUIRE(summary.calls.size() == 12);
    CHECK(summary.calls.at(6).packet == 3);
    CHECK(summary.calls.back().packet == 4);
    CHECK(summary.calls_left_out == 0);
    auto many = calls_of(two_packets);
    many.calls.insert(many.calls.end(), Call::about.most - 9, many.calls.front());
    REQUIRE(merge(summary, many));
    CHECK(summary.calls.size() == Call::about.most);
    CHECK(summary.calls_left_out == 9);
}
