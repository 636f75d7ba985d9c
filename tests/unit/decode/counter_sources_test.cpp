// SPDX-License-Identifier: GPL-2.0-or-later
// Whose counters are read: hosts, namespaces, devices, CPUs.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "decoded_text.h"

using namespace stapgen::decode;

TEST_CASE("samples of two sources are not of one, whatever says so") {
    const auto udp = [](int received, int errors) {
        return fmt::format("Udp:\n    {} packets received\n    {} packet receive errors\n", received, errors);
    };
    const auto two = [&](const std::string& first, const std::string& second) {
        return DecodedText(first + udp(100, 5) + second + udp(900, 77));
    };
    struct Case {
        std::string first, second, of;
    };
    for (const auto& [first, second, of] : {
             Case{"root@n1:~# netstat -su\n", "root@n2:~# netstat -su\n", "n2"},
             Case{"[root@n1 ~]# \n", "[root@n2 ~]# \n", "n2"},
             Case{"# ip netns exec blue netstat -su\n", "# ip netns exec red netstat -su\n", "netns red"},
             Case{"# netstat -su\n", "# ip netns exec red netstat -su\n", "netns red"},
             Case{"$ docker exec web netstat -su\n", "$ podman exec db netstat -su\n", "container db"},
             Case{"$ kubectl exec -n a web -- netstat -su\n", "$ kubectl exec -n b web -- netstat -su\n", "pod b/web"},
             Case{"$ ssh n1 netstat -su\n", "$ ssh root@n2 netstat -su\n", "n2"},
             Case{"$ ssh n1 netstat -su\n", "$ netstat -su\n", "-"},
             Case{">>>>> n1\n", ">>>>> n2\n", "n2"},
             Case{"n1 | CHANGED | rc=0 >>\n", "n2 | CHANGED | rc=0 >>\n", "n2"},
             Case{"==> n1.txt <==\n", "==> n2.txt <==\n", "n2.txt"},
             Case{"n1\n", "n2\n", "n2"},
             Case{"----\nn1\n----\n", "----\nn2\n----\n", "n2"},
             Case{"Client:\n", "Server:\n", "Server"},
             Case{"Client:\n$ netstat -su\n", "Server:\n$ netstat -su\n", "Server"},
             Case{"", "=== the other one ===\n", "other"},
             Case{"$ for h in n1 n2; do ssh $h netstat -su; done\n", "", "n2"},
             Case{"$ for h in $(cat hosts); do ssh $h netstat -su; done\n", "", "host of line 6"},
         }) {
        CAPTURE(first);
        CAPTURE(second);
        const auto decoded = two(first, second);
        CHECK(readings(decoded) == 4);
        CHECK(has_line(decoded, "netstat -s0 Udp.InErrors of - = 5"));
        CHECK(has_line(decoded, "netstat -s0 Udp.InErrors of " + of + " = 77"));
    }
    for (const auto& [first, second, of] : {
             Case{"", "", ""},
             Case{"root@n1:~# netstat -su\n", "root@n1:~# netstat -su\n", ""},
             Case{"root@n1:~# netstat -su\n", "joe@n1.example:~$ netstat -su\n", ""},
             Case{"", "root@n1:~# netstat -su\n", ""},
             Case{"$ netstat -su\n", "> # sudo netstat -su\n", ""},
             Case{"root@jump:~# ssh n1 netstat -su\n", "root@n1:~# netstat -su\n", ""},
             Case{"=== before ===\n", "=== after ===\n", ""},
             Case{"Idle:\n", "Under load:\n", ""},
             Case{"n1 before:\n", "n1 after:\n", ""},
             Case{"$ docker exec web netstat -su\n", "$ podman exec -it web sudo netstat -su\n", ""},
             Case{"", "something else\n", ""},
             Case{"$ netstat -su\n", "$ ethtool -g eth0\nCurrent hardware settings:\nRX: 256\n$ netstat -su\n", ""},
         }) {
        CAPTURE(first);
        CAPTURE(second);
        CHECK(has_line(two(first, second), "netstat -s1 Udp.InErrors of - = 77"));
    }
    // The same source again, another one between.
    const DecodedText again("root@n1:~# netstat -su\n" + udp(100, 5) + "root@n2:~# netstat -su\n" + udp(900, 77) +
                            "root@n1:~# netstat -su\n" + udp(101, 6));
    CHECK(has_line(again, "netstat -s1 Udp.InErrors of - = 6"));
    CHECK(again.counter_sources == std::vector<std::string>{"host n1", "host n2"});
    // A prompt ends the loop that has printed a heading, and a shell that was entered is left.
    const DecodedText printed("$ ./all-hosts\nn1\n" + udp(100, 5) + "n2\n" + udp(900, 77) + "$ netstat -su\n" +
                              udp(101, 6));
    CHECK(has_line(printed, "netstat -s0 Udp.InErrors of - = 6"));
    CHECK(printed.counter_sources == std::vector<std::string>{"below 'n1'", "below 'n2'", "no name"});
    const DecodedText entered("$ netstat -su\n" + udp(100, 5) + "$ ip netns exec blue bash\n$ netstat -su\n" +
                              udp(900, 77) + "$ exit\n$ netstat -su\n" + udp(101, 6));
    CHECK(has_line(entered, "netstat -s0 Udp.InErrors of netns blue = 77"));
    CHECK(has_line(entered, "netstat -s1 Udp.InErrors of - = 6"));
    // By "exit" at busybox's prompt, or without a word: the prompt outside is there again.
    for (const std::string leaves : {"/ # exit\n", ""}) {
        const DecodedText container("root@n1:~# docker exec -it api sh\n/ # nstat -az\nUdpInErrors 77 0.0\n" + leaves +
                                    "root@n1:~# nstat -az\nUdpInErrors 5 0.0\n");
        CHECK(container.counter_sources == std::vector<std::string>{"host n1, container api", "host n1"});
        CHECK(has_line(container, "nstat0 Udp.InErrors of n1 = 5"));
    }
    // One of them may have failed.
    const DecodedText failed("$ for h in n1 n2; do ssh $h netstat -su; done\nssh: connect to host n1: refused\n" +
                             udp(900, 77));
    CHECK(failed.counter_sources == std::vector<std::string>{"host of line 4"});
}

TEST_CASE("each host's lines are its own, however they are mixed") {
    DecodedText decoded("");
    for (const auto& [host, line] : {std::pair("n1", "NIC statistics:\n"), std::pair("n2", "NIC statistics:\n"),
                                     std::pair("n1", "     rx_drops: 5\n"), std::pair("n2", "     rx_drops: 77\n"),
                                     std::pair("n1", "NIC statistics:\n"), std::pair("n1", "     rx_drops: 7\n")}) {
        decoded.detector.set_source(host, decoded);
        decoded.detector.feed(line, decoded);
    }
    CHECK(has_line(decoded, "ethtool -S0 ethtool.rx_drops of ? on n2 = 77"));
    CHECK(has_line(decoded, "ethtool -S1 ethtool.rx_drops of ? = 7"));
    CHECK(decoded.counter_sources == std::vector<std::string>{"host n1", "host n2"});
}

TEST_CASE("there is an end to the number of sources") {
    std::string text;
    for (int i = 0; i < 300; ++i)
        text += fmt::format(">>>>> node{}\nUdp:\n    5 packet receive errors\n", i);
    const DecodedText decoded(text);
    CHECK(readings(decoded) == 256);
    CHECK(decoded.detector.input().unrecognised == 300 - 256);
}

TEST_CASE("the device of a command or of a loop's heading is that of rows which name none, by every tool") {
    for (const auto& [command, row, line] :
         {std::tuple("ifconfig eth1 | grep RX", "        RX errors 0  dropped 900  overruns 0  frame 0\n",
                     "ifconfig0 dev.rx_drop of eth1 = 900"),
          std::tuple("ip -s link show eth1", "    RX: bytes packets dropped\n    9000 90 900\n",
                     "ip -s link0 link.rx_dropped of eth1 = 900"),
          std::tuple("ethtool -S eth1 | grep drop", "     rx_drops: 900\n",
                     "ethtool -S0 ethtool.rx_drops of eth1 = 900"),
          std::tuple("tc -s qdisc show dev eth1",
                     "qdisc pfifo_fast 0: root refcnt 2\n Sent 9 bytes 9 pkt (dropped 900, overlimits 0 requeues 0)\n",
                     "tc -s qdisc0 qdisc.dropped of pfifo_fast eth1 = 900")}) {
        const std::string typed(command);
        const auto of_d = [&] { return std::string(typed).replace(typed.find("eth1"), 4, "$d"); }();
        for (const auto& above : {"$ " + typed + "\n", typed + "\n", "$ date; sleep 10; sudo " + typed + "\n",
                                  "Every 1.0s: " + typed + "        n1: Tue Apr 16 08:23:27 2024\n\n",
                                  "=== " + typed + " ===\n", "$ for d in eth1; do " + of_d + "; done\n",
                                  "$ for d in $(ls /sys/class/net); do echo $d; " + of_d + "; done\neth1\n"}) {
            CAPTURE(above);
            CHECK(has_line(DecodedText(above + row), line));
        }
    }
    // A loop that prints no name: its devices are not compared.
    const DecodedText loop(
        "$ for d in $(ls); do ethtool -S $d; done\nNIC statistics:\n     rx_drops: 5\n"
        "NIC statistics:\n     rx_drops: 7\n");
    CHECK(has_line(loop, "ethtool -S0 ethtool.rx_drops of line 1 = 5"));
    CHECK(has_line(loop, "ethtool -S0 ethtool.rx_drops of line 4 = 7"));
    for (const auto* other : {"ip -s maddr show", "ip -s route", "tc -s monitor dev eth1", "tc -s filter",
                              "ifconfig shows this", "ip is slow"}) {
        CAPTURE(other);
        CHECK(DecodedText(other + std::string("\n")).detector.input().unrecognised == 1);
    }
}

TEST_CASE("of one command line each command prints its part") {
    const std::string row = "     rx_drops: ";
    const DecodedText later("$ ethtool -S eth0 | grep drop; sleep 10; ethtool -S eth0 | grep drop\n" + row + "5\n" +
                            row + "7\n");
    CHECK(has_line(later, "ethtool -S0 ethtool.rx_drops of eth0 = 5"));
    CHECK(has_line(later, "ethtool -S1 ethtool.rx_drops of eth0 = 7"));
    const DecodedText other("$ ethtool -S eth0; ethtool -S eth1\nNIC statistics:\n" + row + "5\nNIC statistics:\n" +
                            row + "7\n");
    CHECK(has_line(other, "ethtool -S0 ethtool.rx_drops of eth0 = 5"));
    CHECK(has_line(other, "ethtool -S0 ethtool.rx_drops of eth1 = 7"));
    // Which rows are VMware's parts of one counter is not known.
    const std::string part = "       drv dropped tx total: ";
    const DecodedText parts("$ ethtool -S eth0|grep tx; ethtool -S eth0|grep tx\n" + part + "5\n" + part + "7\n");
    CHECK(has_line(parts, "ethtool -S0 ethtool.drv dropped tx total of eth0 = 7 part"));
    // By different tools, with a sleep between, it is another sample.
    const DecodedText tools(
        "$ nstat -az TcpExtListenDrops; sleep 1; netstat -s\n#kernel\nTcpExtListenDrops 139 0.0\n"
        "TcpExt:\n    152 SYNs to LISTEN sockets dropped\n");
    CHECK(has_line(tools, "netstat -s1 TcpExt.ListenDrops of - = 152"));
}

TEST_CASE("a qdisc's handle is in what its counters are of") {
    const std::string sent = " Sent 9 bytes 9 pkt (dropped 3, overlimits 0 requeues 0)\n";
    const DecodedText decoded("qdisc tbf 8001: dev eth1 root refcnt 2\n" + sent +
                              "qdisc fq_codel 8002: root refcnt 2\n" + sent +
                              "qdisc fq_codel 0: parent 8003:2 limit 5p\n" + sent);
    CHECK(has_line(decoded, "tc -s qdisc0 qdisc.dropped of tbf 8001: eth1 = 3"));
    CHECK(has_line(decoded, "tc -s qdisc0 qdisc.dropped of fq_codel 8002: ? = 3"));
    CHECK(has_line(decoded, "tc -s qdisc0 qdisc.dropped of fq_codel ? 8003:2 = 3"));
    CHECK(decoded.notes().starts_with("?: no line names the device"));
}

TEST_CASE("behind a gap no row's number says its CPU") {
    const std::string first = "00000001 00000002 00000003 00000000 00000000 00000000 00000000 00000000 00000000\n",
                      second = "0000000a 00000063 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n";
    for (const auto* gap : {"...\n", "[...]\n", "<snip>\n", "\xe2\x80\xa6\n", "(16 more rows)\n", "\n...\n\n"}) {
        CAPTURE(gap);
        const DecodedText decoded("$ cat /proc/net/softnet_stat\n" + first + gap + second);
        CHECK(decoded.detector.input().unrecognised == 0);
        CHECK(has_line(decoded, "/proc/net/softnet_stat0 softnet.dropped of cpu0 = 2"));
        CHECK(readings(decoded) == 6);
        CHECK(std::ranges::count_if(decoded.lines, [](const std::string& line) {
                  return line.find("softnet.dropped of cpu of line ") != line.npos && line.ends_with(" = 99");
              }) == 1);
    }
    // A row that names its CPU needs no number.
    const auto third = second.substr(0, second.size() - 1) + " 00000000 00000000 00000000 00000007\n";
    CHECK(has_line(DecodedText(first + "...\n" + third), "/proc/net/softnet_stat0 softnet.dropped of cpu7 = 99"));
    // Neither where another one's rows begin, which only a heading says.
    const DecodedText twice("$ cat /proc/net/softnet_stat; sleep 1; cat /proc/net/softnet_stat\n" + first + second);
    CHECK(has_line(twice, "/proc/net/softnet_stat0 softnet.dropped of cpu of line 3 = 99"));
    CHECK(has_line(DecodedText("$ while true; do cat /proc/net/softnet_stat; sleep 1; done\n" + first + second),
                   "/proc/net/softnet_stat0 softnet.dropped of cpu of line 3 = 99"));
    CHECK(has_line(DecodedText("$ while true; do date; cat /proc/net/softnet_stat; done\n" + first + second),
                   "/proc/net/softnet_stat0 softnet.dropped of cpu1 = 99"));
}

TEST_CASE("what a person has added to a row is taken off, and hides no counter") {
    const std::string above = "$ ethtool -S eth0\nNIC statistics:\n";
    for (const auto* row : {"     rx_drops: 17    <---- HERE", "     rx_drops: 17 <- this",
                            "     rx_drops: 17 # was: 3", "rx_drops: 17 <<<", "     rx_drops: 17 // why: 5",
                            "     rx_drops: **17**", "**rx_drops: 17**", "     rx\\_drops: 17", "     rx_drops: 17 !!!",
                            "! rx_drops: 17", "     rx_drops: 17 \xe2\x86\x90 this", "`rx_drops: 17`"}) {
        CAPTURE(row);
        const DecodedText decoded(above + row + "\n");
        CHECK(readings(decoded) == 1);
        CHECK(has_line(decoded, "ethtool -S0 ethtool.rx_drops of eth0 = 17"));
        CHECK(decoded.detector.input().unrecognised == 0);
    }
    const DecodedText nstat("TcpExtListenDrops  2891  0.0   # 5 SYNs to LISTEN sockets dropped\n");
    CHECK(nstat.lines.size() == 2);
    CHECK(has_line(nstat, "nstat0 TcpExt.ListenDrops of - = 2891"));
}
