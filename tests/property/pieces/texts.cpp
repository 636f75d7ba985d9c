// SPDX-License-Identifier: GPL-2.0-or-later
#include "texts.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace stapgen::pieces {

namespace {

constexpr std::int64_t start_s = 1605572811, second = 1'000'000'000;

std::string ctime_text(std::int64_t seconds, bool with_year) {
    const auto time = static_cast<std::time_t>(seconds);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(),
                                       with_year ? "%a %b %e %H:%M:%S %Y" : "%a %b %e %H:%M:%S", std::gmtime(&time))};
}

/// Of many sizes, small ones rather.
std::int64_t any(Random& random, int bits) {
    return below(random, std::int64_t{1} << (1 + below(random, bits)));
}

bool one_in(Random& random, std::int64_t count) {
    return below(random, count) == 0;
}

}  // namespace

std::string stage_timing(Random& random, std::int64_t lines) {
    const bool with_year = !one_in(random, 3);
    const auto apart_s = one_in(random, 2) ? 0 : 1800 * (below(random, 48) - 24);
    // More than a report keeps apart, or as many, or a few.
    const auto processes = std::array<std::int64_t, 3>{9, 500, 600}[static_cast<std::size_t>(below(random, 3))];
    const auto jump = one_in(random, 2) ? 0 : 1 + below(random, lines);
    auto now_s = start_s;
    std::string text;
    for (std::int64_t i = 0; i < lines; ++i) {
        if (one_in(random, 20)) now_s += any(random, 5);
        if (i == jump) now_s -= any(random, 16);
        const bool is_rx = one_in(random, 2);
        const auto shown = ctime_text(now_s + (is_rx ? apart_s : 0), with_year != one_in(random, 5000));
        const auto stage = [&] { return one_in(random, 50) ? -any(random, 50) : any(random, 20); };
        const auto process = below(random, processes);
        const auto names =
            is_rx ? std::array{"|I| drv-ip", "ip-tcp", "tcp-app"} : std::array{"|O| app-tcp", "tcp-ip", "ip-drv"};
        text += fmt::format("{} {}{}: {} us,\t{}: {} us,\t {}: {} us.\t| Proc p{}, PID {}\n", shown,
                            with_year ? "\b\b\b\b\b\b " : "", names[0], stage(), names[1], stage(), names[2], stage(),
                            process % 7, process);
    }
    return text;
}

std::string dropwatch_script(Random& random, std::int64_t lines) {
    const bool with_times = !one_in(random, 4);
    const auto rows = std::array<std::int64_t, 3>{1, 5, 50}[static_cast<std::size_t>(below(random, 3))];
    const auto places = one_in(random, 4) ? 20'000 : 40;
    std::string text = one_in(random, 3) ? "" : "Monitoring for dropped packets\n";
    auto now_s = start_s;
    for (std::int64_t i = 0; i < lines; ++i) {
        if (with_times && one_in(random, rows)) {
            now_s += 5;
            text += ctime_text(now_s, true) + '\n';
        }
        const auto place = below(random, places);
        text += fmt::format("{} packets dropped at ", any(random, 20));
        text += place % 5 == 0    ? fmt::format("location 0x{:x}", 0xffffffff81000000 + place)
                : place % 17 == 0 ? fmt::format("00000000{:08x}", place * 7919)
                : place % 19 == 0 ? fmt::format("<name {}>", place)
                                  : fmt::format("f{}+0x{:x}/0x90 [m{}]", place, place % 7, place % 3);
        text += one_in(random, 3) ? fmt::format(" for reason: {}\n", below(random, 9) - 1) : "\n";
        if (one_in(random, lines)) text += "Stopping dropped packet monitor\n";
    }
    return text;
}

std::string own_packets(Random& random, std::int64_t lines) {
    std::string text =
        "stapgen\t3\tnet-latency\tnet\ttime:time\tpid:int,key\tcomm:text,key\tway:text\tdriver:stage\tapp:"
        "stage\tqueued:value\n";
    text +=
        "fields\tcall\ttime:time\tpacket:int\tdepth:int,depth\tfunction:text,key\targs:text\tcpu:int\ttid:int\tcomm:"
        "text\town:stage\n";
    constexpr std::int64_t boot = 43'788'213'014;
    text += fmt::format("ready\t{}\t{}\n", start_s * second, boot);
    // Within a second, some minutes, or hours: blocks of time are made longer on the way.
    const auto step =
        std::array<std::int64_t, 3>{1000, 10'000'000, 2 * second}[static_cast<std::size_t>(below(random, 3))];
    const auto processes = one_in(random, 3) ? 700 : 11;
    std::int64_t now = boot, seen = 0;
    for (std::int64_t i = 0; i < lines; ++i) {
        now += any(random, 2) * step;
        const auto time = std::max<std::int64_t>(0, now - (one_in(random, 7) ? any(random, 33) : 0));
        const auto value = [&](int bits) { return one_in(random, 6) ? "-" : fmt::format("{}", any(random, bits)); };
        if (one_in(random, 5)) {
            text += fmt::format("call\t{}\t{}\t{}\tf{}\t\t0\t7\tc\t{}\n", time, i / 9, i % 4, i % 5, any(random, 30));
        } else {
            const auto pid = below(random, processes);
            text += fmt::format("net\t{}\t{}\tc{}\t{}\t{}\t{}\t{}\n", time, pid, pid % 3,
                                one_in(random, 2) ? "tx" : "rx", value(40), value(46), value(9));
            ++seen;
        }
        if (one_in(random, 400))
            text +=
                fmt::format("tick\t{}\tseen={}\treported={}\tfiltered=0\n", start_s * second + now - boot, seen, seen);
        if (one_in(random, 4000))
            text += fmt::format("fields\tmore{}\ttime:time\tx:stage\nmore{}\t{}\t5\n", i, i, time);
    }
    if (!one_in(random, 3))
        text += fmt::format("end\t{}\tseen={}\treported={}\n", start_s * second + now, seen + 3, seen);
    return text;
}

std::string own_drops(Random& random, std::int64_t lines) {
    const bool are_counts = one_in(random, 2);
    std::string text = are_counts
                           ? "stapgen\t2\tpage-alloc\tpages\ttime:time\tpid:int\tcomm:text\tpages:count\n"
                           : "stapgen\t2\tdropwatch\tdrop\ttime:time\tlocation:address\treason:reason\tcount:count\n";
    text += fmt::format("ready\t{}\t1000\n", start_s * second);
    const auto in_interval = std::array<std::int64_t, 3>{2, 20, 2000}[static_cast<std::size_t>(below(random, 3))];
    std::int64_t now = 1000, seen = 0;
    for (std::int64_t i = 0; i < lines; ++i) {
        now += any(random, 20);
        const auto count = any(random, 12), place = below(random, 60);
        text += are_counts
                    ? fmt::format("pages\t{}\t{}\tc{}\t{}\n", now, place, place % 7, count)
                    : fmt::format("drop\t{}\t{:x}\t{}\t{}\n", now, 0xffffffff81000000 + 4096 * place, place % 4, count);
        seen += count;
        if (one_in(random, in_interval))
            text += fmt::format("tick\t{}\tseen={}\treported={}\n", start_s * second + now, seen, seen);
    }
    return text;
}

std::string kfree_skb(Random& random, std::int64_t lines) {
    std::string text;
    std::int64_t now_us = 5'123'456'789;
    for (std::int64_t i = 0; i < lines; ++i) {
        now_us += any(random, 12);
        const auto place = below(random, 40);
        // As mails and terminals break lines.
        const auto* const middle = one_in(random, 9) ? "\n" : " ";
        const auto* const end = one_in(random, 9) ? "\n" : " ";
        if (one_in(random, 30)) text += fmt::format("{:7} ", below(random, 20));
        text += fmt::format(
            "p{}  {} [{:03}] {}.{:06}: skb:kfree_skb: skbaddr=0xffff8881 protocol=2048{}location={}{}reason: {}\n",
            place % 5, 100 + place, i % 4, now_us / 1'000'000, now_us % 1'000'000, middle,
            place % 3 == 0 ? fmt::format("0x{:x}", 0xffffffff81000000 + place) : fmt::format("f{}+0x5/0x90", place),
            end, place % 2 == 0 ? "NO_SOCKET" : "NOT_SPECIFIED");
        if (one_in(random, 6)) text += "\tffffffff8149a8ed kfree_skb+0x6d ([kernel.kallsyms])\n\n";
        if (one_in(random, 300)) text += fmt::format("CPU:{} [LOST {} EVENTS]\n", i % 4, 1 + any(random, 5));
    }
    return text;
}

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{{"RHEL stage timing", stage_timing},
                                       {"dropwatch.stp", dropwatch_script},
                                       {"our packets", own_packets},
                                       {"our counts", own_drops},
                                       {"kfree_skb", kfree_skb}};
    return all;
}

std::string disturbed(Random& random, std::string_view text, std::int64_t often) {
    constexpr std::array<std::string_view, 14> lines{
        "noise",
        "",
        "WARNING: Number of errors: 0, skipped probes: 17",
        "WARNING: There were 3 transport failures.",
        "user@host:~$ ls",
        "Tue Nov 17 00:26:51 2020",
        "17 packets dropped at icmp_rcv+0x12d/0x400",
        "Wed Mar  2 16:01:36 2011 |I| drv-ip: 23 us, ip-tcp: 34 us, tcp-app: 189 us. | Proc firefox, PID 19550",
        "# perf_event : 17",
        "> quoted",
        "\x1b[1mbold\x1b[0m",
        "rx=2181 tcpip_rx=3456 epoll=9876 wait=456 read=789 memcached=4321 tx=6543 total=27622 epoll_return=1013 "
        "count=97",
        "stapgen\t2\tdropwatch\tdrop\ttime:time\tlocation:address\treason:reason\tcount:count",
        "[LOST 5 EVENTS]"};
    std::string all;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = text.find('\n', at) + 1;
        all += text.substr(at, end - at);
        at = end;
        // The last ones change what may be read in pieces: seldom, so that others come up.
        if (one_in(random, often))
            all += fmt::format("{}\n", lines[static_cast<std::size_t>(below(random, one_in(random, 9) ? 14 : 5))]);
    }
    return all;
}

}  // namespace stapgen::pieces
