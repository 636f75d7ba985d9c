// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/shell_commands.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

using namespace stapgen::decode;

namespace {

/// "netstat -su in netns blue on n2; sleep 10": words of each, and where it runs; "*": it repeats.
std::string run_by(std::string_view line, bool is_prompted = true) {
    std::string text;
    for (const auto& command : commands_of(line, is_prompted)) {
        const auto& [host, inside] = command.place;
        text += fmt::format("{}{}{}{}{}{}{}", text.empty() ? "" : "; ", fmt::join(command.words, " "),
                            inside.empty() ? "" : " in ", inside, host.empty() ? "" : " on ", host,
                            command.repeats ? "*" : "");
    }
    return text;
}

}  // namespace

TEST_CASE("a command is what is left without its runners, its path, filters and redirections") {
    for (const auto* line :
         {"ethtool -S eth0", "sudo /sbin/ethtool -S eth0 | grep -E 'rx|tx'", "sudo -u root ethtool -S eth0 2>/dev/null",
          "watch -n 1 -d ethtool -S eth0", "watch -n1 'ethtool -S eth0 | grep drop'", "LC_ALL=C ethtool -S \"eth0\" >a",
          "timeout 10 nice -n 5 ethtool -S eth0 < /dev/null", "bash -c 'ethtool -S eth0'", "(ethtool -S eth0)",
          "chroot /host ethtool -S eth0", "ethtool -S eth0 # the first", "ansible all -m shell -a 'ethtool -S eth0'",
          "pdsh -w n[1-9] ethtool -S eth0"}) {
        CAPTURE(line);
        CHECK(run_by(line) == "ethtool -S eth0");
    }
    CHECK(run_by("date; sleep 10 && ip -s link || true") == "date; sleep 10; ip -s link; true");
    CHECK(run_by("==> /proc/net/snmp <==", false) == "cat /proc/net/snmp");
    CHECK(run_by("echo 'open").empty());
    CHECK(run_by("").empty());
}

TEST_CASE("where a command runs is what its wrapper says") {
    CHECK(run_by("ip netns exec blue netstat -su") == "netstat -su in netns blue");
    CHECK(run_by("ip -n blue -s link") == "ip -s link in netns blue");
    CHECK(run_by("nsenter -t 4711 -n netstat -su") == "netstat -su in netns of process 4711");
    CHECK(run_by("nsenter --net=/var/run/netns/red netstat -su") == "netstat -su in netns red");
    CHECK(run_by("nsenter -t 4711 -m netstat -su") == "netstat -su");
    CHECK(run_by("docker exec -u 0 -e A=B web netstat -su") == "netstat -su in container web");
    CHECK(run_by("podman exec -it db netstat -su") == "netstat -su in container db");
    CHECK(run_by("docker compose exec web netstat -su") == "netstat -su in container web");
    // All containers of a pod have one network namespace.
    CHECK(run_by("kubectl -n prod exec -it web-0 -c app -- netstat -su") == "netstat -su in pod prod/web-0");
    CHECK(run_by("kubectl exec web-0 --namespace=prod -- netstat -su") == "netstat -su in pod web-0");
    CHECK(run_by("oc debug node/n1 -- chroot /host netstat -su") == "netstat -su in node/n1");
    CHECK(run_by("ssh -p 22 -o A=B admin@n1 netstat -su") == "netstat -su on n1");
    CHECK(run_by("ssh n1 'netstat -su; sleep 1'") == "netstat -su on n1; sleep 1 on n1");
    CHECK(run_by("ssh n1 sudo ip netns exec blue netstat -su") == "netstat -su in netns blue on n1");
    CHECK(run_by("ip netns exec blue ssh n1 netstat -su") == "netstat -su on n1");
    CHECK(run_by("docker exec web ip netns exec blue netstat -su") == "netstat -su in netns blue in container web");
    CHECK(run_by("ssh n1") == "sh on n1");
    CHECK(commands_of("docker exec -it web bash", true).at(0).is_shell());
    CHECK_FALSE(commands_of("bash x.sh", true).at(0).is_shell());
}

TEST_CASE("two commands are alike if their words and what filters their output are") {
    const auto text = [](std::string_view line) { return commands_of(line, true).at(0).text; };
    CHECK(text("sudo  netstat -s | grep a") == text("ssh n1 'netstat  -s | grep a'"));
    CHECK(text("netstat -s | grep a") != text("netstat -s | grep b"));
    CHECK(text("netstat -s | grep a") != text("netstat -s"));
}

TEST_CASE("a loop's commands come once for each word, and of an unknown number of words once") {
    CHECK(run_by("for d in eth0 eth1; do echo $d; ethtool -S ${d}; done") ==
          "echo eth0; ethtool -S eth0; echo eth1; ethtool -S eth1");
    CHECK(run_by("for h in n1 n2; do for d in a b; do ssh $h ethtool -S $d; done; done") ==
          "ethtool -S a on n1; ethtool -S b on n1; ethtool -S a on n2; ethtool -S b on n2");
    CHECK(run_by("while true; do ethtool -S eth0; sleep 1; done; date") == "ethtool -S eth0*; sleep 1*; date");
    CHECK(run_by("for d in $(ls /sys/class/net); do ethtool -S $d; done") == "ethtool -S $d*");
    CHECK(commands_of("ethtool -S $d", true).at(0).varies());
    CHECK_FALSE(commands_of("ethtool -S eth0", true).at(0).varies());
    // "$dev" is no "$d".
    CHECK(run_by("for d in a; do ethtool -S $dev; done") == "ethtool -S $dev");
}

TEST_CASE("without a prompt all programs have to be known") {
    CHECK(run_by("netstat -s; sleep 10; netstat -s", false) == "netstat -s; sleep 10; netstat -s");
    CHECK(run_by("./netperf; netstat -s", false).empty());
    CHECK(run_by("./netperf; netstat -s", true) == "netperf; netstat -s");
    for (const auto* line : {"3 drops at icmp_rcv+12d", "rx_drops: 5", "ip_rcv: 5", "nobody; netstat -s", ""}) {
        CAPTURE(line);
        CHECK(run_by(line, false).empty());
    }
}

TEST_CASE("a hostile line makes no more of itself") {
    std::string line;
    for (char variable = 'a'; variable < 'i'; ++variable)
        line += fmt::format("for {0} in 1 2 3 4 5 6 7 8 9 ${{{0}}}x; do ", variable);
    line += "ethtool -S $a$b$c$d$e$f$g$h";
    CHECK(commands_of(line, true).size() <= 64);
    std::string words = "for x in";
    for (int i = 0; i < 300; ++i)
        words += fmt::format(" {:060}", i);
    CHECK(commands_of(words + "; do ethtool -S $x$x$x$x$x$x$x$x$x$x; done", true).empty());  // too long
}
