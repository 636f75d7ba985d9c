// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "decode/place.h"
#include "decoded_text.h"

using namespace stapgen::decode;

TEST_CASE("the place in a stack is the first call that does not only drop or trace") {
    DropStack stack;
    CHECK_FALSE(stack.add("not a call"));
    CHECK_FALSE(stack.add("tcp_v4_rcv+"));
    CHECK_FALSE(stack.add("tcp_v4_rcv+0xzz"));
    CHECK_FALSE(stack.add("3 drops"));
    CHECK(stack.add("\tb'__traceiter_kfree_skb+0x90'"));
    CHECK(stack.add("kfree_skb_reason.part.0+12"));
    CHECK(stack.place().empty());
    CHECK(stack.drops());
    CHECK(stack.add("    perf_trace_of_mine+17 [my-module]"));  // called what drops: it is no tracing
    CHECK(stack.add("net_rx_action+1"));
    CHECK(stack.place() == "perf_trace_of_mine+0x11 [my-module]");
    stack = {};
    CHECK(stack.add("0xffffffff8149a8ed"));
    CHECK(stack.place() == "0xffffffff8149a8ed");
    CHECK_FALSE(stack.drops());
    stack = {};
    CHECK(stack.add("[unknown]"));
    CHECK(stack.place() == "[unknown]");
    CHECK_FALSE(drops_packets("__kfree_skb"));
    CHECK_FALSE(drops_packets("consume_skb"));
}

TEST_CASE("bcc tcpdrop: a drop a row, with and without reasons, of Python 2 and 3") {
    const DecodedText decoded(read_text("tcpdrop.txt"));
    CHECK(decoded.text() == R"(header tcpdrop
drop location=tcp_v4_do_rcv+0x135 count=1
drop location=tcp_rcv_state_process+0xb2 count=1
drop location=nft_do_chain+0x93c reason=12 count=1
drop location=unknown reason=2 count=1
end -1 seen=7 reported=4 lost.trace buffer=3
)");
    CHECK(decoded.notes() == R"(3 events were lost by the trace buffer
reasons are the kernel's numbers, named by --release: tcpdrop's own names are those of Linux 6.14
1 drops have no stack, so no place)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("bpftrace: stacks that begin in what drops, and reasons by name") {
    const DecodedText decoded(read_text("bpftrace.txt"));
    CHECK(decoded.text() == R"(header bpftrace
drop location=unix_release_sock+0x1a6 count=1
drop location=nft_do_chain+0x3a3 [nf_tables] count=3
drop location=__neigh_event_send+0xa5 reason=NEIGH_FAILED count=20
drop location=unknown reason=TC_INGRESS count=2
drop location=unknown reason=NO_SOCKET count=34
drop location=unknown count=4
end -1 seen=69 reported=64 lost.trace buffer=5
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("bpftrace: other maps are reported as not understood, and so is what follows them") {
    const DecodedText decoded(
        "@[\n"
        "    tcp_v4_rcv+12\n"
        "    kfree_skb+1\n"
        "]: 5\n"
        "@[nginx]: 7\n"
        "@bytes[nginx]: 7\n"
        "@[\n]: 9\n");
    CHECK(decoded.lines.empty());
    // All but "@[", which may begin anything.
    CHECK(decoded.detector.input().unrecognised == 6);
}

TEST_CASE("bpftrace: a stack without its count is not counted, and that is said") {
    const DecodedText decoded(
        "@[\n"
        "    kfree_skb+115\n"
        "    ip_error+1\n"
        "@[\n"
        "    kfree_skb+115\n"
        "    unix_release_sock+422\n"
        "]: 2\n"
        "@[\n"
        "    kfree_skb+115\n");
    CHECK(decoded.text() == R"(header bpftrace
drop location=unix_release_sock+0x1a6 count=2
end -1 seen=2 reported=2
)");
    CHECK(decoded.notes() == "2 stacks without a count are ignored");
}

TEST_CASE("pwru of 2023: a drop is after the last function that its packet entered") {
    const DecodedText decoded(read_text("pwru.txt"));
    CHECK(decoded.text() == R"(header pwru
drop location=after ip_rcv_core reason=IP_CSUM count=1
drop location=after bpf_lsm_xfrm_decode_session reason=NO_SOCKET count=1
drop location=after __netif_rx reason=131073 count=1
end -1 seen=3 reported=3
)");
    CHECK(decoded.notes() == R"(16 rows are of functions that do not drop
the places of 3 drops are the last functions that the packets entered, which may have returned: pwru --output-caller shows the caller)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("pwru of 2021: functions that call one another to drop are one drop, the same one twice are two") {
    const DecodedText decoded(read_text("pwru-2021.txt"));
    CHECK(decoded.text() == R"(header pwru
drop location=unknown count=1
drop location=after nf_hook_slow count=1
drop location=after nf_hook_slow count=1
end -1 seen=10 reported=3 lost.trace buffer=7
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("pwru since 2024: callers and stacks are places, columns may be cut") {
    const DecodedText decoded(read_text("pwru-2024.txt"));
    CHECK(decoded.text() == R"(header pwru
drop location=after nf_hook_slow count=1
drop location=vxlan_xmit [vxlan] reason=NOT_SPECIFIED count=1
drop location=tcp_v4_rcv reason=TCP_CSUM count=1
drop location=after bpf_prog_7aa41f27b2ed9b54_cil_from_container[bpf] reason=TC_INGRESS count=1
drop location=unknown reason=7 count=1
drop location=unknown reason=TCP_RFC7323_TW_PAWS count=1
drop location=after __skb_checksum_complete reason=TCP_CSUM count=1
end -1 seen=18 reported=7 lost.trace buffer=11
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("pwru: an skb that was freed and used again begins anew, and memory does not grow") {
    std::string text =
        "0xffff8ce13e987900 6 [a] ip_rcv\n0xffff8ce13e987900 6 [a] kfree_skb\n0xffff8ce13e987900 6 [a] kfree_skbmem\n"
        "0xffff8ce13e987900 6 [a] kfree_skb\n";
    CHECK(DecodedText(text).lines[1] == "drop location=after ip_rcv count=1");
    CHECK(DecodedText(text).lines[2] == "drop location=unknown count=1");
    text.clear();
    constexpr std::size_t packets = 32768 + 2;  // two more than it tells apart
    for (std::size_t i = 0; i < packets; ++i)
        text += fmt::format("0x{:x} 6 [a] ip_rcv\n", 0xffff800000000000U + i * 256);
    text += "0xffff800000000000 6 [a] kfree_skb\n";                                              // forgotten
    text += fmt::format("0x{:x} 6 [a] kfree_skb\n", 0xffff800000000000U + (packets - 1) * 256);  // not yet
    const DecodedText decoded(text);
    REQUIRE(decoded.lines.size() == 4);
    CHECK(decoded.lines[1] == "drop location=unknown count=1");
    CHECK(decoded.lines[2] == "drop location=after ip_rcv count=1");
}

TEST_CASE("pwru: what is no row") {
    for (const auto* line :
         {"0xffff8ce13e987900 tcp_v4_rcv", "0xffff8ce13e987900 6", "0xffff8ce13e987900 6 [never ends",
          "0xffffffffc0ff1234 [nf_tables] tcp_v4_rcv", "0xffff8ce13e987900 a:1 ip_rcv", "0xffff8ce13e987900 6 [a] 12",
          "0xffff8ce13e987900 6 a:1", "0x12 6 [a] ip_rcv", "10.0.0.1:4->10.0.0.2:80(tcp)",
          "10.0.0.1:4->10.0.0.2:80(tcp) 17", "0xffff8ce13e9879001 6 [a] ip_rcv"}) {
        CAPTURE(line);
        CHECK(DecodedText(std::string(line) + "\n").detector.input().recognised == 0);
    }
}
