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

TEST_CASE("a stack that lacks calls before its place has none") {
    for (const auto* gap : {"    ...", "    [...]", "    <snip>", "    [snip]", "    (16 more frames)",
                            "    \xe2\x80\xa6", "    tcp_v4_r", "    tcp_v4_rcv+", "    -- 8< --"}) {
        CAPTURE(gap);
        const auto text = [&](std::string_view above, std::string_view below) {
            return fmt::format("@[\n{}    kfree_skb+118\n{}    sys_demo+44\n    do_syscall_64+91\n]: 9\n", above,
                               below);
        };
        const DecodedText decoded(text("", fmt::format("{}\n", gap)));
        CHECK(decoded.lines[1] == "drop location=unknown count=9");
        CHECK(decoded.notes() == "9 drops have no place: calls are missing in their stacks");
        // Behind the place it does not matter.
        const DecodedText behind(text("", fmt::format("    tcp_v4_rcv+12\n{}\n", gap)));
        CHECK(behind.lines[1] == "drop location=tcp_v4_rcv+0xc count=9");
        CHECK(behind.notes().empty());
    }
    // Nor does it above what drops.
    CHECK(DecodedText("@[\n    ...\n    kfree_skb+118\n    tcp_v4_rcv+12\n]: 9\n").lines[1] ==
          "drop location=tcp_v4_rcv+0xc count=9");
    // Neither blanks nor what a tool says in between are calls.
    for (const auto* between : {"\n", "   \n", "<br>\n", "Lost 5 events\n"}) {
        CAPTURE(between);
        CHECK(DecodedText(fmt::format("@[\n    kfree_skb+118\n{}    sys_demo+44\n]: 9\n", between)).lines[1] ==
              "drop location=sys_demo+0x2c count=9");
    }
    const std::string row = "20:49:06 0 4 10.32.119.56:443 > 10.66.65.252:22912 CLOSE (ACK)\n";
    const DecodedText bcc(row + "\tb'tcp_drop+0x1'\n\t...\n\tb'ip_rcv+0x8'\n\n" + row + "\tb'tcp_v4_rcv+0x9'\n");
    CHECK(bcc.lines[1] == "drop location=unknown count=1");
    CHECK(bcc.lines[2] == "drop location=tcp_v4_rcv+0x9 count=1");
    CHECK(bcc.notes() == "1 drops have no place: calls are missing in their stacks");
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

TEST_CASE("cilium monitor: drops with Cilium's reasons, at a line of its source where it says that") {
    const DecodedText decoded(
        "Listening for events on 2 CPUs with 64x4096 of shared memory\nPress Ctrl-C to quit\n"
        "xx drop (Policy denied) to endpoint 25729, identity 261->264: fd02::c0a8:210b:0:bf00 -> fd02::1 EchoRequest\n"
        "xx drop (Policy denied (L3)) flow 0x8f2a to endpoint 0, ifindex 24, file bpf_lxc.c:2004, , identity 1->2: "
        "10.20.1.113:44120 -> 10.20.1.88:8080 tcp SYN\n"
        "xx drop (FIB lookup failed, No neighbor) flow 0x1 to endpoint 0, ifindex 2, file unknown(0):0, , identity "
        "world->15435: 10.10.0.9 -> 10.20.4.7 EchoReply\n"
        "CPU 01: MARK 0x8f2a FROM 1204 DROP: 74 bytes, reason CT: Map insertion failed, identity 1->2, to endpoint 5\n"
        "CPU 01: MARK 0x8f2a FROM 1204 DROP: 74 bytes, reason 203\n");
    CHECK(decoded.text() == R"(header cilium
drop location=unknown reason=Policy denied count=1
drop location=bpf_lxc.c:2004 reason=Policy denied (L3) count=1
drop location=unknown reason=FIB lookup failed, No neighbor count=1
drop location=unknown reason=CT: Map insertion failed count=1
drop location=unknown reason=Cilium's 203 count=1
end -1 seen=5 reported=5
)");
    CHECK(decoded.detector.input().unrecognised == 0);
    for (const auto* none :
         {"-> endpoint 1562 flow 0x76 , identity world->11803 state new ifindex 0: 1.2.3.4:5 -> 6.7.8.9:80 tcp SYN\n",
          "xx drop () to endpoint 5\n", "xx drop (Policy denied\n", "Press Ctrl-C to quit\n"})
        CHECK(DecodedText(none).detector.input().recognised == 0);
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
