// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/kernel_event.h"

#include <doctest/doctest.h>

#include "decode/remarks.h"
#include "decoded_text.h"

using namespace stapgen::decode;

TEST_CASE("kfree_skb from perf trace: with and without a thread, by fields and as the event prints itself") {
    const DecodedText decoded(read_text("perf-trace.txt"));
    CHECK(decoded.text() == R"(header kfree_skb
drop time=0 comm=swapper tid=0 location=0xffffffff9da1b2c3 reason=NOT_SPECIFIED count=1
drop time=106023000 comm=ping tid=2465 location=0xffffffffc0d9b462 reason=196610 count=1
drop time=106104000 comm=kworker/0:1-ev tid=506057 location=0xffffffff9da1b2c3 reason=NO_SOCKET count=1
drop time=107000000 comm=Web Content tid=1236 location=0xffffffff8149a8ed count=1
drop time=108000000 location=tcp_v4_rcv+0x1f/0x90 reason=NO_SOCKET count=1
end -1 seen=9 reported=5 lost.trace buffer=4
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("net events from perf trace: a field that is 0 is left out, and so rc of what was sent") {
    const DecodedText decoded(read_text("perf-trace-net.txt"));
    CHECK(decoded.text() == R"(header net-events
packet time=35000 way=tx dev=wlp2s0 comm=ping tid=8497 qdisc=11000 driver=24000
packet time=1043000 way=rx dev=wlp2s0 comm=ping tid=8497 drv-app=23000
end -1 seen=3 reported=2 incomplete.not sent=1 incomplete.queue not seen=0 incomplete.pushed out=0 netif_receive_skb=1
)");
    // What ping says.
    CHECK(decoded.detector.input().unrecognised == 2);
}

TEST_CASE("net events from perf trace up to 5.3, of one thread: a bridge and a veth are stacked") {
    const DecodedText decoded(read_text("perf-trace-docker.txt"));
    CHECK(decoded.text() == R"(header net-events
packet time=22000 way=tx dev=veth79215ff stacked=14000 qdisc=2000 driver=6000
packet time=50000 way=tx dev=eth0 qdisc=2000 driver=4000
end -1 seen=2 reported=2 incomplete.not sent=0 incomplete.queue not seen=0 incomplete.pushed out=0 netif_receive_skb=3
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("kfree_skb from ftrace's latency-format, also without <idle>, which is a tag to HTML") {
    const DecodedText decoded(read_text("ftrace-latency.txt"));
    CHECK(decoded.text() == R"(header kfree_skb
drop time=1000 comm=<idle> tid=0 cpu=3 location=00000000bfe89d35 count=1
drop time=12000 comm=<idle> tid=0 cpu=3 location=icmp_rcv+0x12d/0x3f0 reason=ICMP_CSUM count=1
drop time=5123000 comm=curl tid=4711 cpu=1 location=tcp_v4_rcv+0x1f/0x90 reason=NO_SOCKET count=1
end -1 seen=3 reported=3
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("kfree_skb from ftrace with columns cut off") {
    const DecodedText decoded(read_text("ftrace-cut.txt"));
    CHECK(decoded.text() == R"(header kfree_skb
drop time=36113438000 comm=<idle> tid=0 cpu=1 location=ip_rcv_core+0x1/0x2 reason=NO_SOCKET count=1
drop time=164463161391000 comm=nslookup tid=113430 location=ip_rcv_finish_core+0x233/0x360 reason=IP_LOCAL_SOURCE count=1
drop time=2317065261000 comm=arping tid=7078 location=tun_net_xmit+0x1/0x2 reason=FULL_RING count=1
drop time=2318000001000 location=nf_hook_slow+0x3b/0xc0 [nf_tables] count=1
drop time=2319000001000 location=nf_hook_slow+0x3b/0xc0 reason=NETFILTER_DROP count=1
drop location=tcp_v4_rcv+0x1f/0x90 reason=PROTO_MEM count=1
drop location=0xffffffff8176ac9d count=1
end -1 seen=7 reported=7
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("net events without a time have no stages: they are reported as not understood") {
    const DecodedText decoded(
        "net_dev_queue: dev=eth0 skbaddr=0xffff8800cda03400 len=74\n"
        "net_dev_xmit: dev=eth0 skbaddr=0xffff8800cda03400 len=74 rc=0\n");
    CHECK(decoded.lines.empty());
    CHECK(decoded.detector.input().unrecognised == 2);
}

TEST_CASE("what looks like an event and is none") {
    for (const auto* line :
         {"bash: kfree_skb: command not found", "make[1]: kfree_skb: skbaddr=0xffff8881 location=0xffffffff8176ac9d",
          "see foo kfree_skb: skbaddr=0xffff8881 location=0xffffffff8176ac9d",
          "0.000 (ping/8497 skb:kfree_skb(skbaddr: 0xffff8881, location: 0xffffffff8176ac9d)",
          "0.000 skb:kfree_skb(skbaddr: 0xffff8881, location: 0xffffffff8176ac9d",
          "0.000 a name that is far too long/1 skb:kfree_skb(location: 0xffffffff8176ac9d)",
          "9999999999999999us: kfree_skb: skbaddr=0xffff8881 location=0xffffffff8176ac9d",
          "12ms: kfree_skb: skbaddr=0xffff8881 location=0xffffffff8176ac9d",
          "-1.5: kfree_skb: skbaddr=0xffff8881 location=0xffffffff8176ac9d"}) {
        CAPTURE(line);
        const auto event = read_kernel_event(line);
        CHECK_FALSE((event && event->name == "kfree_skb" && !event->argument("location").empty()));
    }
}

TEST_CASE("arguments of both kinds: the whole name, up to a blank or a comma, without quote marks") {
    KernelEvent event;
    event.arguments = "dev=eth0 other_len=1 len=66 rc=0 reason: NO_SOCKET";
    CHECK(event.argument("dev") == "eth0");
    CHECK(event.argument("len") == "66");
    CHECK(event.argument("reason") == "NO_SOCKET");
    CHECK(event.argument("skbaddr").empty());
    event.arguments = R"(name: "wlp2s0", skbaddr: 0xffff8881, len: 98, location:0xffffffff8176ac9d)";
    CHECK(event.argument("name") == "wlp2s0");
    CHECK(event.argument("len") == "98");
    CHECK(event.argument("location") == "0xffffffff8176ac9d");
}

TEST_CASE("losses, as each tool prints them") {
    CHECK(lost_events("CPU:3 [LOST 4711 EVENTS]") == 4711);
    CHECK(lost_events("CPU:3 [17 EVENTS DROPPED]") == 17);
    CHECK(lost_events("CPU:3 [LOST EVENTS]") == 1);
    CHECK(lost_events("Processed 4711 events and lost 2 chunks!") == 2);
    CHECK(lost_events("LOST 4 events!") == 4);
    CHECK(lost_events("Possibly lost 12 samples") == 12);
    CHECK(lost_events("Lost 5 events") == 5);
    CHECK(lost_events("2022/05/03 02:55:43 Perf event ring buffer full, dropped 7 samples") == 7);
    CHECK(
        lost_events(
            R"(level=WARN msg="Some events went untraced due to BPF recursion misses" total=11 per_program="a=11")") ==
        11);
    CHECK(lost_events("2026/01/02 03:04:05 WARN Some events went untraced due to BPF recursion misses total=11") == 11);
    CHECK(!lost_events("Lost some events"));
    CHECK(!lost_events("LOST -4 events!"));
}

TEST_CASE("ftrace's headings are remarks, with and without their '#'") {
    for (const auto* line :
         {"# latency: 259 us, #4/4, CPU#2 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)",
          "# irqsoff latency trace v1.1.5 on 3.8.0-test+",
          "# --------------------------------------------------------------------", "_-----=> irqs-off",
          "|| / _---=> hardirq/softirq", "TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
          "| |         |   |||||     |         |"}) {
        CAPTURE(line);
        CHECK(remark(line) == Remark::other);
    }
    CHECK(remark("| a table | of 3 |") == Remark::none);
    CHECK(remark("") == Remark::none);
}
