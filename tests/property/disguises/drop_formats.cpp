// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <array>

#include "formats.h"

namespace stapgen::disguises {

namespace {

std::uint64_t address(std::int64_t number) {
    return 0xffffffff81760011 + 0x1002 * static_cast<std::uint64_t>(number);
}

std::string_view function(std::int64_t number) {
    constexpr std::array<std::string_view, 5> names{"tcp_v4_rcv", "icmp_rcv", "__udp4_lib_rcv", "nf_hook_slow",
                                                    "unix_stream_recvmsg"};
    return names[static_cast<std::size_t>(number) % names.size()];
}

std::int64_t offset(std::int64_t number) {
    return 0x1f + 2 * number;
}

std::string_view reason_name(std::int64_t number) {
    constexpr std::array<std::string_view, 3> names{"NO_SOCKET", "NETFILTER_DROP", "SOCKET_RCVBUFF"};
    return names[static_cast<std::size_t>(number) % names.size()];
}

/// "tcp_v4_rcv+0x1f/0x90", of every third row "nf_hook_slow+0x3b/0xc0 [nf_tables]".
std::string sized_place(std::int64_t number) {
    return fmt::format("{}+{:#x}/{:#x}{}", function(number), offset(number), offset(number) + 0x71,
                       number % 3 == 0 ? " [nf_tables]" : "");
}

/// The same as a report has it.
std::string shown_place(std::int64_t number) {
    return fmt::format("{}+{:#x}{}", function(number), offset(number), number % 3 == 0 ? " [nf_tables]" : "");
}

std::string ctime(std::int64_t second) {
    return fmt::format("Tue Nov 17 {:02}:{:02}:{:02} 2020", second / 3600 % 24, second / 60 % 60, second % 60);
}

/// What dropwatch(1) says around its rows.
Format dropwatch_tool(std::string_view name, Row (*row)(std::int64_t)) {
    return {name,
            {"Initializing kallsyms db", "Enabling monitoring...", "Kernel monitoring activated.",
             "Issue Ctrl-C to stop monitoring"},
            {"^CGot a stop message", "Shutting down ..."},
            row};
}

Row alert(std::int64_t number, std::string_view origin) {
    if (number % 3 == 2) {
        return {{fmt::format("{} drops at location {:#x}{}", prime(number), address(number), origin)},
                {{drops_of(fmt::format("{:#x}", address(number))), prime(number)}}};
    }
    return {
        {fmt::format("{} drops at {}+{:x} ({:#x}){}", prime(number), function(number), offset(number), address(number),
                     origin)},
        {{drops_of(fmt::format("{}+{:#x} {:#x}", function(number), offset(number), address(number))), prime(number)}}};
}

Row trap(std::int64_t number) {
    return {{fmt::format("{} drops at ttl_value_is_too_small_{} [hardware]", prime(number), number)},
            {{drops_of(fmt::format("ttl_value_is_too_small_{}", number)), prime(number)}}};
}

Row packet_block(std::int64_t number, bool has_reason) {
    Row row;
    row.lines = {fmt::format("drop at: {} ({:#x})", sized_place(number), address(number)),
                 "origin: software",
                 "input port ifindex: 3",
                 fmt::format("timestamp: {} {:09} nsec", ctime(1611 + number), 31 * number),
                 "protocol: 0x800",
                 "length: 98",
                 "original length: 98"};
    if (has_reason) row.lines.push_back(fmt::format("drop reason: {}", reason_name(number)));
    row.lines.emplace_back();
    row.says = {{drops_of(fmt::format("{} {:#x}", shown_place(number), address(number)),
                          has_reason ? reason_name(number) : "-"),
                 1}};
    return row;
}

/// What dropwatch.stp says around its rows.
Format dropwatch_script(std::string_view name, Row (*row)(std::int64_t)) {
    return {name, {"Monitoring for dropped packets"}, {"Stopping dropped packet monitor"}, row};
}

Row script_row(std::int64_t number, const std::string& place, const std::string& shown, std::string_view reason = "-") {
    return {{fmt::format("{} packets dropped at {}", prime(number), place)},
            {{drops_of(shown, reason), prime(number)}}};
}

/// With the time of its interval's end before it, as dropwatch.stp has it since 2020.
Row timed(std::int64_t number, Row row) {
    row.lines.insert(row.lines.begin(), {"", ctime(1611 + 5 * number)});
    return row;
}

std::string own_header(std::string_view fields) {
    return fmt::format("stapgen\t2\tdropwatch\tdrop\t{}", fields);
}

Row kfree_skb(std::int64_t number, std::string_view event, const std::string& arguments, const std::string& shown,
              std::string_view reason = "-") {
    constexpr std::array<std::string_view, 4> processes{"swapper", "memcached", "Web Content", "kworker/0:1-eve"};
    const auto name = processes[static_cast<std::size_t>(number) % processes.size()];
    return {{fmt::format("{:>16} {:5} [{:03}] {:5}.{:06}: {:>20}: {}", name, 1747 + number, number % 4, 5123 + number,
                         1009 * number, event, arguments)},
            {{drops_of(shown, reason), 1}}};
}

Row ftrace(std::int64_t number, std::string_view behind_pid, std::string_view flags) {
    constexpr std::array<std::string_view, 4> processes{"<idle>", "memcached", "my-app-7", "kworker/0:1"};
    const auto name = processes[static_cast<std::size_t>(number) % processes.size()];
    return {{fmt::format("{:>16}-{:<7}{} [{:03}] {} {:5}.{:06}: kfree_skb: skbaddr=00000000a1b2{:04x} protocol=2048 "
                         "location={} reason: {}",
                         name, 1747 + number, behind_pid, number % 4, flags, 19801 + number, 1009 * number, number,
                         sized_place(number), reason_name(number))},
            {{drops_of(shown_place(number), reason_name(number)), 1}}};
}

}  // namespace

std::vector<Format> drop_formats() {
    const Lines ftrace_head{"# tracer: nop",
                            "#",
                            "# entries-in-buffer/entries-written: 7/7   #P:2",
                            "#",
                            "#                                _-----=> irqs-off/BH-disabled",
                            "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
                            "#              | |         |   |||||     |         |"};
    return {
        dropwatch_tool("dropwatch 1.4", [](std::int64_t n) { return alert(n, ""); }),
        dropwatch_tool("dropwatch 1.5.2", [](std::int64_t n) { return alert(n, " [software]"); }),
        dropwatch_tool("dropwatch 1.5.2, hardware", trap),
        dropwatch_tool("dropwatch 1.5.2, packets", [](std::int64_t n) { return packet_block(n, false); }),
        dropwatch_tool("dropwatch 1.5.4, packets", [](std::int64_t n) { return packet_block(n, true); }),
        dropwatch_script("dropwatch.stp of 2009",
                         [](std::int64_t n) {
                             const auto place = fmt::format("{:#x}", address(n));
                             return script_row(n, "location " + place, place);
                         }),
        dropwatch_script("dropwatch.stp of 2010",
                         [](std::int64_t n) {
                             const auto place = fmt::format("{}_{}", function(n), n);
                             return script_row(n, place, place);
                         }),
        dropwatch_script("dropwatch.stp of 2020",
                         [](std::int64_t n) {
                             const auto place = fmt::format("{}_{}", function(n), n);
                             return timed(n, script_row(n, place, place));
                         }),
        dropwatch_script("dropwatch.stp of 2023",
                         [](std::int64_t n) { return timed(n, script_row(n, sized_place(n), shown_place(n))); }),
        dropwatch_script("dropwatch.stp of 2025",
                         [](std::int64_t n) {
                             const auto reason = fmt::format("{}", 2 + n % 7);
                             return timed(
                                 n, script_row(n, sized_place(n) + " for reason: " + reason, shown_place(n), reason));
                         }),
        {"perf script, kfree_skb to 5.16",
         {},
         {},
         [](std::int64_t n) {
             const auto place = fmt::format("{:#x}", address(n));
             return kfree_skb(n, "skb:kfree_skb", "skbaddr=0xffff8800c4574400 protocol=2048 location=" + place, place);
         }},
        {"perf script, kfree_skb from 5.17 with call chains",
         {},
         {},
         [](std::int64_t n) {
             auto row = kfree_skb(n, "skb:kfree_skb",
                                  fmt::format("skbaddr=0xffff8800c4574400 protocol=34525 location={} reason: {}",
                                              sized_place(n), reason_name(n)),
                                  shown_place(n), reason_name(n));
             row.lines.emplace_back("\tffffffff8176ac9d kfree_skb_reason+0x8d ([kernel.kallsyms])");
             row.lines.push_back(
                 fmt::format("\t{:x} {}+{:#x} ([kernel.kallsyms])", address(n), function(n), offset(n)));
             row.lines.emplace_back();
             return row;
         }},
        {"perf script, kfree_skb from 6.11",
         {},
         {},
         [](std::int64_t n) {
             return kfree_skb(n, "skb:kfree_skb",
                              fmt::format("skbaddr=0xffff8881 rx_sk=(nil) protocol=2048 location={} reason: {}",
                                          sized_place(n), reason_name(n)),
                              shown_place(n), reason_name(n));
         }},
        {"perf script, kfree_skb that an old perf fails to parse",
         {},
         {},
         [](std::int64_t n) {
             const auto place = fmt::format("{:#x}", address(n)), reason = fmt::format("{}", 2 + n % 7);
             return kfree_skb(
                 n, "skb:kfree_skb",
                 "[FAILED TO PARSE] skbaddr=0xffff8881 location=" + place + " protocol=2048 reason=" + reason, place,
                 reason);
         }},
        {"ftrace, kfree_skb", ftrace_head, {}, [](std::int64_t n) { return ftrace(n, "", "..s2."); }},
        {"ftrace, kfree_skb with thread groups",
         ftrace_head,
         {},
         [](std::int64_t n) { return ftrace(n, fmt::format("({:7})", 1747 + n), "d.s3."); }},
        {"trace-cmd report, kfree_skb", {"cpus=2"}, {}, [](std::int64_t n) { return ftrace(n, "", ""); }},
        {"own text, dropwatch",
         {own_header("location:address\treason:reason\tcount:count"), "ready\t1795208074250404497\t25478024752"},
         {},
         [](std::int64_t n) {
             return Row{{fmt::format("drop\t{:x}\t{}\t{}", address(n), 2 + n % 7, prime(n))},
                        {{drops_of(fmt::format("{:#x}", address(n)), fmt::format("{}", 2 + n % 7)), prime(n)}}};
         }},
    };
}

}  // namespace stapgen::disguises
