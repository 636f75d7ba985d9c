// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <string>

#include "decode/calendar.h"
#include "decode/place.h"
#include "decode/skb_table.h"
#include "decoded_text.h"

using namespace stapgen::decode;

namespace {

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

}  // namespace

TEST_CASE("ctime is read with and without its year") {
    const auto with = read_ctime("Tue Nov 17 00:26:51 2020");
    REQUIRE(with);
    CHECK(with->epoch_s == 1605572811);
    CHECK(with->has_year);
    CHECK(with->length == 24);
    const auto without = read_ctime("Tue Feb 29 23:59:59 |I|");
    REQUIRE(without);
    CHECK_FALSE(without->has_year);
    CHECK(without->length == 19);
    CHECK(read_ctime("Wed Mar  2 16:01:36 2011 \b\b")->epoch_s == 1299081696);
    for (const auto* wrong : {"Tue Nov 31 00:26:51 2020", "Tue Nov 17 24:26:51 2020", "tue Nov 17 00:26:51 2020",
                              "Tue Nov 17 00:26:5", "Tue Nov 17 00:26:51 1969", "Tue Feb 29 00:00:00 2019"}) {
        CAPTURE(wrong);
        CHECK_FALSE(read_ctime(wrong));
    }
    CHECK_FALSE(read_ctime("Tue Nov 17 00:26:51 20201")->has_year);
}

TEST_CASE("a place may have an address behind its module") {
    const auto place = parse_place("nf_hook_slow+0x3b/0xc0 [nf_tables] (0xffffffffc0ff1234)");
    CHECK(place.symbol == "nf_hook_slow");
    CHECK(place.offset == 0x3b);
    CHECK(place.module == "nf_tables");
    CHECK(place.address == 0xffffffffc0ff1234);
}

TEST_CASE("stage timing: the terminal and the file say the same, but for the year") {
    const DecodedText terminal(read_text("stage-timing-terminal.txt")), file(read_text("stage-timing-file.txt"));
    CHECK(terminal.detector.input().recognised == 8);
    CHECK(file.detector.input().recognised == 8);
    REQUIRE(file.lines.size() == 11);
    CHECK(file.lines[0] == "header stage-timing");
    CHECK(file.lines[1] == "ready 1299081696000000000");
    CHECK(file.lines[2] ==
          "packet time=1299081696000000000 way=rx comm=firefox pid=19550 drv-ip=23000 ip-tcp=34000 tcp-app=189000");
    // Written at 15:01:37 on a clock that is an hour behind.
    CHECK(file.lines[3] ==
          "packet time=1299081697000000000 way=tx comm=firefox pid=19550 app-tcp=3000 tcp-ip=7000 ip-drv=2000");
    CHECK(file.lines[10] == "end 1299081703000000000");
    CHECK(file.notes() == "times are those of |I| lines: the clock of |I| lines is 1 h ahead of that of |O| lines");

    REQUIRE(terminal.lines.size() == 10);
    CHECK(terminal.lines[1] == "packet time=0 way=rx comm=firefox pid=19550 drv-ip=23000 ip-tcp=34000 tcp-app=189000");
    CHECK(terminal.lines[8] ==
          "packet time=7000000000 way=tx comm=firefox pid=19372 app-tcp=6000 tcp-ip=13000 ip-drv=7000");
    CHECK(terminal.lines[9] == "end -1");
    CHECK(terminal.notes().ends_with("times count from the first line: the lines have no year"));
}

TEST_CASE("stage timing: what col -b makes of the backspaces") {
    const DecodedText decoded(
        "Fri Nov 20 20:30:17 |O|6app-tcp: 13 us, tcp-ip: 6 us,    ip-drv: 4 us.          | Proc ask, PID 249\n");
    CHECK(decoded.lines[1] == "packet time=0 way=tx comm=ask pid=249 app-tcp=13000 tcp-ip=6000 ip-drv=4000");
}

TEST_CASE("stage timing: what the script had forgotten is not seen") {
    const DecodedText decoded(
        "Wed Mar  2 16:01:36 2011 \b\b\b\b\b\b |I| drv-ip: -1299081696000007 us,\tip-tcp: 1299081696000013 us,\t "
        "tcp-app: 0 us.\t| Proc a, PID b, PID 7\r\n"
        "Wed Mar  2 16:01:37 2011 \b\b\b\b\b\b |I| drv-ip: -3 us,\tip-tcp: 17 us,\t tcp-app: 5 us.\t| Proc , PID 11\n");
    REQUIRE(decoded.lines.size() == 5);
    CHECK(decoded.lines[2] == "packet time=1299081696000000000 way=rx comm=a, PID b pid=7 tcp-app=0");
    CHECK(decoded.lines[3] == "packet time=1299081697000000000 way=rx comm= pid=11 ip-tcp=17000 tcp-app=5000");
    CHECK(decoded.notes() == "3 stages are ignored: negative, or as large as a clock");
}

TEST_CASE("stage timing: half hours, the other way round, and a night between two lines") {
    const auto line = [](std::string_view time, char direction) {
        const std::string stages = direction == 'I' ? "drv-ip: 1 us,\tip-tcp: 1 us,\t tcp-app: 1 us."
                                                    : "app-tcp: 1 us,\ttcp-ip: 1 us,\t ip-drv: 1 us.";
        return fmt::format("{} 2011 \b\b\b\b\b\b |{}| {}\t| Proc x, PID 1\n", time, direction, stages);
    };
    const DecodedText half(line("Wed Mar  2 23:50:00", 'O') + line("Thu Mar  3 05:20:01", 'I') +
                           line("Wed Mar  2 23:50:02", 'O'));
    CHECK(half.notes() == "times are those of |O| lines: the clock of |I| lines is 5.5 h ahead of that of |O| lines");
    CHECK(half.lines[3].starts_with("packet time=1299109801000000000 "));

    const DecodedText night(line("Wed Mar  2 20:00:00", 'I') + line("Thu Mar  3 06:40:00", 'O') +
                            line("Thu Mar  3 06:40:01", 'I'));
    CHECK(night.notes().empty());
    CHECK(night.lines[3].starts_with("packet time=1299134400000000000 "));
}

TEST_CASE("stage timing: the end of a year has no year either") {
    const auto text = replaced(read_text("stage-timing-terminal.txt"), "Wed Mar  2 16:01:36", "Fri Dec 31 23:59:59");
    const DecodedText decoded(replaced(text, "Wed Mar  2 15:01:37", "Sat Jan  1 00:00:02"));
    CHECK(decoded.lines[2].starts_with("packet time=3000000000 way=tx"));
}

TEST_CASE("the tracker's means since the start, with the lines they are in") {
    const DecodedText decoded("\nnoise\n" + read_text("tracker.txt"));
    REQUIRE(decoded.lines.size() == 6);
    CHECK(decoded.lines[0] == "header memcached-tracker");
    CHECK(decoded.lines[1] ==
          "means line=3 count=97 rx=2629 tcpip_rx=2671 epoll=2802 wait=2471 read=2701 memcached=2513 tx=2612 "
          "total=18402 epoll_return=1013");
    CHECK(decoded.lines[4].starts_with("means line=6 count=361 rx=2559 "));
    CHECK(decoded.lines[5] == "end -1");
    CHECK(decoded.notes().find("above 100 us") != std::string::npos);
    const DecodedText changed(replaced(read_text("tracker.txt"), "total=18", "total=318"));
    CHECK(changed.notes().find("above 100 us") == std::string::npos);
    CHECK(changed.notes().find("not the original script's 100 us") != std::string::npos);
}

TEST_CASE("dropwatch.stp of 2009: bare addresses, and one interval where there are no times") {
    CHECK(DecodedText(read_text("dropwatch-2009.txt")).text() == R"(header dropwatch.stp
drop location=0xffffffff8149a8ed reason=-1 count=1762
drop location=0xffffffffa02c41d3 reason=-1 count=4
drop location=0xffffffff8149a8ed reason=-1 count=467
end -1
)");
}

TEST_CASE("dropwatch.stp of 2010: names, and no end where the text has none") {
    const DecodedText decoded(read_text("dropwatch-2010.txt"));
    CHECK(decoded.text() == R"(header dropwatch.stp
drop location=unix_stream_recvmsg reason=-1 count=1762
drop location=tun_do_read reason=-1 count=4
drop location=nf_hook_slow reason=-1 count=2
drop location=unix_stream_recvmsg reason=-1 count=467
)");
    CHECK(decoded.notes().find("no times") != std::string::npos);
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("dropwatch.stp of 2020: the time is before the rows of the interval that it ends") {
    CHECK(DecodedText(read_text("dropwatch-2020.txt")).text() == R"(header dropwatch.stp
drop location=unix_stream_recvmsg reason=-1 count=1762
drop location=tun_do_read reason=-1 count=4
drop location=nf_hook_slow reason=-1 count=2
tick 1605572811000000000
drop location=unix_stream_recvmsg reason=-1 count=467
drop location=nf_hook_slow reason=-1 count=20
drop location=tun_do_read reason=-1 count=6
tick 1605572816000000000
drop location=unix_stream_recvmsg reason=-1 count=446
drop location=tun_do_read reason=-1 count=4
drop location=nf_hook_slow reason=-1 count=4
tick 1605572821000000000
end 1605572821000000000
)");
}

TEST_CASE("dropwatch.stp of 2023: offsets and modules, and an interval without drops") {
    CHECK(DecodedText(read_text("dropwatch-2023.txt")).text() == R"(header dropwatch.stp
drop location=unix_stream_read_generic+0x1f7/0x9b0 reason=-1 count=13
drop location=nf_hook_slow+0x3b/0xc0 [nf_tables] reason=-1 count=5
tick 1605572811000000000
tick 1605572816000000000
drop location=0xffffffffc0ff1234 reason=-1 count=7
tick 1605572821000000000
end 1605572821000000000
)");
}

TEST_CASE("dropwatch.stp of 2025: reasons, and 0 is none") {
    CHECK(DecodedText(read_text("dropwatch-2025.txt")).text() == R"(header dropwatch.stp
drop location=tcp_v4_rcv+0x1f/0x90 reason=3 count=17
drop location=nf_hook_slow+0x3b/0xc0 [nf_tables] reason=8 count=3
drop location=tcp_v4_rcv+0x1f/0x90 reason=-1 count=2
tick 1795193465000000000
end 1795193465000000000
)");
}

TEST_CASE("dropwatch.stp that dropped nothing is there") {
    const DecodedText decoded(
        "Monitoring for dropped packets\n\nTue Nov 17 00:26:51 2020\nStopping dropped packet monitor\n");
    CHECK(decoded.text() == "header dropwatch.stp\ntick 1605572811000000000\nend 1605572811000000000\n");
    CHECK(decoded.detector.sources().size() == 1);
}

TEST_CASE("two times alone are no dropwatch.stp, but rows behind a time are") {
    CHECK(DecodedText("Tue Nov 17 00:26:51 2020\nTue Nov 17 00:26:56 2020\n").lines.empty());
    for (const auto* none : {"7 packets dropped at for reason: 11\n", "7 packets dropped at  for reason: 11\n"})
        CHECK(DecodedText(none).detector.input().unrecognised == 1);
    CHECK(DecodedText("Tue Nov 17 00:26:51 2020\n7 packets dropped at icmp_rcv\n").text() ==
          "header dropwatch.stp\ndrop location=icmp_rcv reason=-1 count=7\ntick 1605572811000000000\n");
}

TEST_CASE("dropwatch, the tool: alerts with and without their origin, and traps of the hardware") {
    const DecodedText decoded(read_text("dropwatch-tool.txt"));
    CHECK(decoded.text() == R"(header dropwatch-tool
drop location=icmp_rcv+12d (0xffffffff8176ac9d) count=3
drop location=0xffffffffc0ff1234 count=2
drop location=ttl_value_is_too_small count=7
drop location=__netif_receive_skb_core+14f (0xffffffff8166e3df) count=1
end -1 seen=13 reported=13 lost.queue=0
)");
    CHECK(decoded.notes() == "7 drops are of hardware traps: their places are not functions");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("dropwatch, the tool: reasons and source lines that scripts put behind its rows") {
    for (const auto& [behind, place, reason] : std::vector<std::array<std::string, 3>>{
             {" (SKB_DROP_REASON_NO_SOCKET)", "", "NO_SOCKET"},
             {" [NO_SOCKET]", "", "NO_SOCKET"},
             {" [NO_SOCKET] [software]", "", "NO_SOCKET"},
             {" [software] (NO_SOCKET)", "", "NO_SOCKET"},
             {" (0xffffffff81c2d3e2) [NO_SOCKET]", " (0xffffffff81c2d3e2)", "NO_SOCKET"},
             {" [nf_tables] (0xffffffffc0c2d3e2) [NOMEM]", " [nf_tables] (0xffffffffc0c2d3e2)", "NOMEM"},
             {" (net/ipv4/tcp_ipv4.c:2093) (SKB_DROP_REASON_NO_SOCKET)", "", "NO_SOCKET"},
             {" (SKB_DROP_REASON_NO_SOCKET) [net/ipv4/tcp_ipv4.c:2093]", "", "NO_SOCKET"},
             {" (net/ipv4/tcp_ipv4.c:2093)", "", ""},
             {" (FFFFFFFF81C2D3E2)", " (FFFFFFFF81C2D3E2)", ""},
             {" [nf_tables]", " [nf_tables]", ""},
             {" (UTC+1)", " (UTC+1)", ""}}) {
        CAPTURE(behind);
        const DecodedText decoded("3 drops at tcp_v4_rcv+0x2a" + behind + "\n");
        REQUIRE(decoded.lines.size() == 2);
        CHECK(decoded.lines[1] == fmt::format("drop location=tcp_v4_rcv+0x2a{}{} count=3", place,
                                              reason.empty() ? "" : " reason=" + reason));
    }
    CHECK(DecodedText("3 drops at tcp_v4_rcv (SKB_DROP_REASON_NO_SOCKET)\n").lines.size() == 2);
    for (const auto* sentence :
         {"3 drops at night\n", "3 drops at night (UTC)\n", "3 drops at (SKB_DROP_REASON_XDP)\n"})
        CHECK(DecodedText(sentence).lines.empty());
}

TEST_CASE("dropwatch, the tool: packets with times and reasons, and what its queue lost") {
    const DecodedText decoded(read_text("dropwatch-tool-packets.txt"));
    CHECK(decoded.text() == R"(header dropwatch-tool
ready 1605572811123456789
drop time=1605572811123456789 location=nf_hook_slow+0x3b/0xc0 [nf_tables] (0xffffffffc0ff1234) reason=NETFILTER_DROP count=1
drop time=1605572812000000031 location=tcp_v4_rcv+0x1f/0x90 (0xffffffff8176ac9d) reason=NO_SOCKET count=1
end 1605572812000000031 seen=13 reported=2 lost.queue=11
)");
}

TEST_CASE("kfree_skb from perf script, of every kernel, with a call chain below") {
    const DecodedText decoded(read_text("perf-script.txt"));
    CHECK(decoded.text() == R"(header kfree_skb
drop time=5123456789000 comm=swapper tid=0 cpu=0 location=0xffffffff8149a8ed count=1
drop time=5123456791000 comm=Web Content tid=1236 cpu=3 location=nf_hook_slow+0x3b/0xc0 [nf_tables] reason=NETFILTER_DROP count=1
drop time=5123500000000 comm=kworker/0:1-eve tid=71 cpu=1 location=tcp_v4_rcv+0x1f/0x90 reason=NO_SOCKET count=1
drop time=5124000001000 comm=ksoftirqd/1 tid=19 cpu=1 location=0xffffffff8176ac9d reason=3 count=1
end -1 seen=4 reported=4
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("kfree_skb from ftrace, with and without flags, and what its buffer lost") {
    const DecodedText decoded(read_text("ftrace.txt"));
    CHECK(decoded.text() == R"(header kfree_skb
drop time=19801024057000 comm=<idle> tid=0 cpu=1 location=icmp_rcv+0x12d/0x3f0 reason=ICMP_CSUM count=1
drop time=19801024101000 comm=my-app-7 tid=4711 cpu=0 location=tcp_v4_rcv+0x1f/0x90 reason=NO_SOCKET count=1
drop time=19801024122000 comm=wget tid=1747 cpu=0 location=ffffffff8149a8ed count=1
end -1 seen=26 reported=3 lost.trace buffer=23
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("a row of dropwatch below perf's is no call chain, however many digits its count has") {
    const DecodedText decoded(read_text("perf-script.txt") + "4001 drops at icmp_rcv+12d (0xffffffff8176ac9d)\n");
    CHECK(decoded.text().find("drop location=icmp_rcv+12d (0xffffffff8176ac9d) count=4001") != std::string::npos);
    const DecodedText named(read_text("perf-script.txt") + "4001 drops at icmp_rcv+12d (SKB_DROP_REASON_ICMP_CSUM)\n");
    CHECK(named.text().find("drop location=icmp_rcv+12d reason=ICMP_CSUM count=4001") != std::string::npos);
}

TEST_CASE("net events: the queue, the driver, and the path to the application") {
    const DecodedText decoded(read_text("net-events.txt"));
    CHECK(decoded.text() == R"(header net-events
packet time=100000010000 way=tx dev=eth0 comm=wget tid=1747 cpu=0 qdisc=3000 driver=7000
packet time=100000043000 way=rx dev=eth0 comm=wget tid=1747 cpu=0 drv-app=23000
packet time=100000092000 way=tx dev=eth0 comm=wget tid=1747 cpu=0 qdisc=40000 driver=2000
end -1 seen=4 reported=3 incomplete.not sent=1 incomplete.queue not seen=0 incomplete.pushed out=0 netif_receive_skb=1
)");
    CHECK(decoded.notes() == "1 packets were received (netif_receive_skb)");
    CHECK(decoded.detector.input().unrecognised == 0);
}

TEST_CASE("net events without net_dev_start_xmit: the queue until net_dev_xmit, and a note") {
    auto text = replaced(read_text("net-events.txt"), "net:net_dev_start_xmit: ", "net:other: ");
    const DecodedText decoded(text);
    CHECK(decoded.lines[1].ends_with(" qdisc=10000"));
    CHECK(decoded.notes().find("net_dev_start_xmit was not traced") != std::string::npos);
    CHECK(decoded.detector.input().unrecognised == 3);
}

TEST_CASE("drops among net events are told apart") {
    const DecodedText decoded(read_text("net-events.txt") + read_text("perf-script.txt") + read_text("net-events.txt"));
    REQUIRE(decoded.detector.sources().size() == 2);
    CHECK(decoded.detector.sources()[0]->importer == "net-events");
    CHECK(decoded.detector.sources()[1]->importer == "kfree_skb");
    CHECK(decoded.detector.input().unrecognised == 0);
    CHECK(std::ranges::count_if(decoded.lines, [](auto& line) { return line.starts_with("packet "); }) == 6);
}

TEST_CASE("packets under way: the oldest neighbour is pushed out, and memory does not grow") {
    SkbTable table;
    std::int64_t pushed_out = 0;
    constexpr std::int64_t n = 100'003;
    for (std::int64_t i = 1; i <= n; ++i)
        pushed_out += table.put(0xffff880000000000U + static_cast<std::uint64_t>(i) * 256, i, "eth0");
    CHECK(table.count() + pushed_out == n);
    CHECK(table.count() <= 32768);
    auto* newest = table.find(0xffff880000000000U + n * 256);
    REQUIRE(newest != nullptr);
    CHECK(newest->first_ns == n);
    CHECK(newest->device() == "eth0");
    CHECK(table.put(0xffff880000000000U + n * 256, n + 1, "a-name-of-20-letters"));
    CHECK(table.find(0xffff880000000000U + n * 256)->device() == "a-name-of-20-le");
    SkbTable::remove(*table.find(0xffff880000000000U + n * 256));
    CHECK(table.find(0xffff880000000000U + n * 256) == nullptr);
}

TEST_CASE("netdev-times: trees of received packets, rows of sent ones, and its buffers") {
    const DecodedText decoded(read_text("netdev-times.txt"));
    CHECK(decoded.text() == R"(header netdev-times
packet time=313133116862000 way=rx comm=wget pid=10291 irq-softirq=6000 softirq-receive=4000 receive-app=29000
packet time=313133116865000 way=rx irq-softirq=6000 softirq-receive=7000
drop time=313133116869000 location=c0752dcb count=1
packet time=313133116867000 way=rx irq-softirq=6000 softirq-receive=9000
packet time=313136986751000 way=tx dev=eth4 qdisc=5000 netdevice=97000
packet time=313136986755000 way=tx dev=eth4 qdisc=3000 netdevice=41000
end -1 seen=10 reported=5 lost.overflow=5
)");
    CHECK(decoded.detector.input().unrecognised == 0);
}
