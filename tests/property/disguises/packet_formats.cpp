// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <array>

#include "formats.h"

namespace stapgen::disguises {

namespace {

constexpr std::int64_t us = 1000;
constexpr std::string_view device = "dev=eth0 ";

std::string_view process(std::int64_t number) {
    constexpr std::array<std::string_view, 4> names{"wget", "memcached", "Web Content", "kworker/0:1-eve"};
    return names[static_cast<std::size_t>(number) % names.size()];
}

std::int64_t thread(std::int64_t number) {
    return 1747 + number;
}

/// "5123.000017" for 17 us, and a tenth of a second more for each row.
std::string moment(std::int64_t number, std::int64_t after_us) {
    const auto all = 100'000 * number + after_us;
    return fmt::format("{}.{:06}", 5123 + all / 1'000'000, all % 1'000'000);
}

/// One event of one row, as perf script or ftrace has it; the address of the skb stands between the arguments.
using Event = std::string (*)(std::int64_t number, std::int64_t after_us, std::string_view name,
                              std::string_view before, std::string_view behind);

std::string perf_event(std::int64_t number, std::int64_t after_us, std::string_view name, std::string_view before,
                       std::string_view behind) {
    return fmt::format("{:>16} {:7} [{:03}] {:>12}: {:>24}: {}skbaddr=0xffff8800cda{:05x} {}", process(number),
                       thread(number), number % 4, moment(number, after_us), name, before, number + 1, behind);
}

std::string ftrace_event(std::int64_t number, std::int64_t after_us, std::string_view name, std::string_view before,
                         std::string_view behind) {
    return fmt::format("{:>16}-{:<7} [{:03}] b.s1. {:>12}: {}: {}skbaddr=00000000cda{:05x} {}", process(number),
                       thread(number), number % 4, moment(number, after_us), name.substr(name.find(':') + 1), before,
                       number + 1, behind);
}

std::string who(std::int64_t number) {
    return fmt::format("eth0 {} {}", thread(number), process(number));
}

Row sent(std::int64_t number, Event event, bool sees_start) {
    const auto qdisc = prime(number), driver = prime(number + 3);
    Row row;
    row.lines.push_back(event(number, 0, "net:net_dev_queue", device, "len=66"));
    if (sees_start) row.lines.push_back(event(number, qdisc, "net:net_dev_start_xmit", device, "len=66"));
    row.lines.push_back(event(number, qdisc + driver, "net:net_dev_xmit", device, "len=66 rc=0"));
    row.says = sees_start ? stages_of({{"qdisc", qdisc * us}, {"driver", driver * us}}, who(number))
                          : stages_of({{"qdisc", (qdisc + driver) * us}}, who(number));
    return row;
}

Row received(std::int64_t number, Event event) {
    return {{event(number, 0, "net:netif_receive_skb", device, "len=1492"),
             event(number, prime(number), "skb:skb_copy_datagram_iovec", "", "len=1440")},
            stages_of({{"drv-app", prime(number) * us}}, who(number))};
}

std::string milliseconds(std::int64_t microseconds) {
    return fmt::format("{}.{:03}msec", microseconds / 1000, microseconds % 1000);
}

Row netdev_tree(std::int64_t number) {
    const auto softirq = prime(number), receive = softirq + prime(number + 1), app = receive + prime(number + 2);
    return {{fmt::format("{}sec cpu={}", moment(number, 0), number % 4), "  irq_entry(+0.000msec irq=24:eth4)",
             "         |", fmt::format("  softirq_entry(+{})", milliseconds(softirq)), "         |",
             fmt::format("         |---netif_receive_skb(+{} skb=f2d15900 len=100)", milliseconds(receive)),
             "         |            |",
             fmt::format("         |      skb_copy_datagram_iovec(+{} {}:{})", milliseconds(app), thread(number),
                         process(number)),
             "         |", fmt::format("  napi_poll_exit(+{} eth4)", milliseconds(app + 1)), ""},
            stages_of({{"irq-softirq", softirq * us},
                       {"softirq-receive", (receive - softirq) * us},
                       {"receive-app", (app - receive) * us}},
                      fmt::format("- {} {}", thread(number), process(number)))};
}

Row netdev_sent(std::int64_t number) {
    const auto qdisc = prime(number), netdevice = prime(number + 1);
    return {{fmt::format("{:>7} {:5} {}sec {:>20} {:>20}", fmt::format("eth{}", number), 66, moment(number, 0),
                         milliseconds(qdisc), milliseconds(netdevice))},
            stages_of({{"qdisc", qdisc * us}, {"netdevice", netdevice * us}}, fmt::format("eth{} - -", number))};
}

Row stage_timing(std::int64_t number, std::string_view behind_time, std::string_view blank) {
    const auto first = prime(number), second = prime(number + 1), third = prime(number + 2);
    const bool is_rx = number % 2 == 0;
    const auto names = is_rx ? std::array{"drv-ip", "ip-tcp", "tcp-app"} : std::array{"app-tcp", "tcp-ip", "ip-drv"};
    return {{fmt::format("Wed Mar  2 16:{:02}:{:02} {}|{}| {}: {} us,{}{}: {} us,{} {}: {} us.{}| Proc {}, PID {}",
                         number / 60 % 60, number % 60, behind_time, is_rx ? 'I' : 'O', names[0], first, blank,
                         names[1], second, blank, names[2], third, blank, process(number), thread(number))},
            stages_of({{names[0], first * us}, {names[1], second * us}, {names[2], third * us}},
                      fmt::format("{} {}", thread(number), process(number)))};
}

Row own_packet(std::int64_t number) {
    return {{fmt::format("rx\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t-", 6'650'482'864 + 1'000'003 * number, number % 4,
                         thread(number), thread(number), process(number), prime(number), prime(number + 1))},
            stages_of({{"drv-ip", prime(number)}, {"ip-tcp", prime(number + 1)}},
                      fmt::format("{} {} {}", thread(number), thread(number), process(number)))};
}

}  // namespace

std::vector<Format> packet_formats() {
    const std::vector<std::string> by_device{"dev", "tid", "comm"}, by_process{"pid", "comm"};
    return {
        {"perf script, packets sent", {}, {}, [](std::int64_t n) { return sent(n, perf_event, true); }, by_device},
        {"perf script, packets received", {}, {}, [](std::int64_t n) { return received(n, perf_event); }, by_device},
        {"ftrace, packets sent, no net_dev_start_xmit",
         {"# tracer: nop", "#"},
         {},
         [](std::int64_t n) { return sent(n, ftrace_event, false); },
         by_device},
        {"ftrace, packets received",
         {"# tracer: nop", "#"},
         {},
         [](std::int64_t n) { return received(n, ftrace_event); },
         by_device},
        {"netdev-times, received", {}, {}, netdev_tree, {"dev", "pid", "comm"}},
        {"netdev-times, sent",
         {"   dev    len      Qdisc               netdevice             free"},
         {},
         netdev_sent,
         {"dev", "pid", "comm"}},
        {"stage timing, terminal", {}, {}, [](std::int64_t n) { return stage_timing(n, "", "     "); }, by_process},
        {"stage timing, file",
         {},
         {},
         [](std::int64_t n) { return stage_timing(n, "2011 \b\b\b\b\b\b ", "\t"); },
         by_process},
        {"own text, rx-latency",
         {"stapgen\t3\trx-latency\trx\ttime:time\tcpu:int\tpid:int\ttid:int\tcomm:text\tdrv-ip:stage\tip-tcp:stage\t"
          "tcp-app:stage",
          "ready\t1795371932601985551\t6620621642"},
         {},
         own_packet,
         {"pid", "tid", "comm"}},
    };
}

}  // namespace stapgen::disguises
