// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "has.h"
#include "show/text/sections.h"
#include "written.h"

using namespace stapgen::rows;

namespace {

Call call(std::int64_t packet, std::int64_t begin_ns, std::int64_t duration_ns, std::int64_t depth,
          const std::string& function, const std::string& args) {
    Call of;
    of.packet = packet;
    of.begin_ns = 1795180000000000000 + begin_ns;
    of.duration_ns = duration_ns;
    of.depth = depth;
    of.function = function;
    of.args = args;
    of.cpu = 3;
    of.tid = 17;
    of.comm = "idle";
    return of;
}

Call in_thread(Call of) {
    of.in_thread = true;
    of.tid = 211;
    of.comm = "<b>\x1b[2J";
    return of;
}

Summary call_summary() {
    Summary summary;
    summary.recipe = "call-trace";
    summary.calls = {call(1, 0, 57123, 0, "ip_rcv", "skb, 0x5"),
                     call(1, 5101, 1013, 1, "ip_rcv_core", "skb"),
                     call(1, 7001, 49001, 1, "tcp_v4_rcv", "skb"),
                     call(1, 8009, 101, 2, "tcp_ack", "sk, skb"),
                     call(1, 60013, 211, 0, "ip_forward", "skb"),
                     in_thread(call(1, 30011, 100003, 0, "tcp_recvmsg", "sk")),
                     call(2, 700001, 1, 3, "deep", "0")};
    summary.accounting = {7, 7, 0, {}, {}, {}, true};
    return summary;
}

}  // namespace

TEST_CASE("calls are trees, one for each packet, with a part for each context and a brace for what has calls in it") {
    std::ostringstream out;
    stapgen::show::write_calls(out, stapgen::rows::results_of(call_summary(), {}));
    CHECK(out.str() ==
          "packet 1\n"
          "      AT us     TOOK us    in softirq on CPU 3\n"
          "        0.0        57.1 |  ip_rcv(skb, 0x5) {\n"
          "        5.1         1.0 |    ip_rcv_core(skb);\n"
          "        7.0        49.0 |    tcp_v4_rcv(skb) {\n"
          "        8.0         0.1 |      tcp_ack(sk, skb);\n"
          "                        |    }\n"
          "                        |  }\n"
          "       60.0         0.2 |  ip_forward(skb);\n"
          "      AT us     TOOK us    in thread 211 <b>\\x1b[2J\n"
          "       30.0       100.0 |  tcp_recvmsg(sk);\n\n"
          "packet 2\n"
          "      AT us     TOOK us    in softirq on CPU 3\n"
          "        0.0         0.0 |        deep(0);\n\n");
}

TEST_CASE("what is not kept of the calls is reported") {
    auto summary = call_summary();
    summary.calls_left_out = 1009;
    const auto text = written("table", {summary});
    const auto page = written("html", {summary});
    CHECK(has(text, "\n1009 more calls are not shown; the tables count them\n"));
    CHECK(has(page, "<p>1009 more calls are not shown; the tables count them</p>"));
}

TEST_CASE("the trees are in the page as they stand, and escaped") {
    const auto page = written("html", {call_summary()});
    CHECK(has(page, "<pre>packet 1\n      AT us     TOOK us    in softirq on CPU 3\n"));
    CHECK(has(page, "|    tcp_v4_rcv(skb) {\n"));
    CHECK(has(page, "&lt;b&gt;"));
    CHECK_FALSE(has(page, "<b>"));
}

TEST_CASE("calls are in the JSON of recipes that have them") {
    const auto out = written("json", {call_summary()});
    const auto document = nlohmann::json::parse(out);
    REQUIRE(document["calls"].size() == 7);
    CHECK(document["calls"][3] == nlohmann::json{{"packet", 1},
                                                 {"begin_ns", 1795180000000008009},
                                                 {"duration_ns", 101},
                                                 {"depth", 2},
                                                 {"function", "tcp_ack"},
                                                 {"args", "sk, skb"},
                                                 {"context", "softirq"},
                                                 {"cpu", 3},
                                                 {"tid", 17},
                                                 {"comm", "idle"}});
    CHECK(document["calls"][5]["context"] == "thread");
    CHECK(document["calls_left_out"] == 0);
    const Summary without;
    const auto other = written("json", {without});
    CHECK_FALSE(nlohmann::json::parse(other).contains("calls"));
}
