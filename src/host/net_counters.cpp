// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/net_counters.h"

#include <algorithm>
#include <array>

#include "base/kernel.h"
#include "base/text.h"

namespace stapgen::host {

namespace {

NetCounters read_text_counters(const System& system) {
    NetCounters counters;
    for (const auto* file : {"/proc/net/netstat", "/proc/net/snmp"})
        parse_net_counters(system.read(file).value_or(""), counters);
    return counters;
}

/// Adds stat.ctxt, stat.intr and stat.softirq: the sums of these lines of /proc/stat.
void parse_stat_counters(std::string_view text, NetCounters& counters) {
    for (const auto line : base::split(text, '\n')) {
        // The first number of the lines of interrupts and softirqs is the sum of the others: thousands of them.
        const auto space = line.find(' ');
        if (space == std::string_view::npos) continue;
        const auto name = line.substr(0, space);
        if (name != "ctxt" && name != "intr" && name != "softirq") continue;
        const auto numbers = line.substr(space + 1);
        const auto value = base::to_int(numbers.substr(0, numbers.find(' ')));
        if (value) counters["stat." + std::string(name)] = *value;
    }
}

}  // namespace

void parse_net_counters(std::string_view text, NetCounters& counters) {
    const auto lines = base::split(text, '\n');
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        const auto names = base::words(lines[i]), values = base::words(lines[i + 1]);
        if (names.empty() || values.empty() || names[0] != values[0] || !names[0].ends_with(':')) continue;
        const std::string prefix(names[0].substr(0, names[0].size() - 1));
        for (std::size_t k = 1; k < std::min(names.size(), values.size()); ++k) {
            if (const auto value = base::to_int(values[k])) counters[prefix + "." + std::string(names[k])] = *value;
        }
        ++i;
    }
}

std::vector<SoftnetCounter> softnet_counters(std::string_view text) {
    std::vector<SoftnetCounter> counters;
    std::uint32_t line_number = 0;
    for (const auto line : base::split(text, '\n')) {
        const auto read = base::read_softnet_line(base::words(line));
        for (const auto& [name, value] : read.counters)
            counters.push_back({read.cpu.value_or(line_number), name, value});
        ++line_number;
    }
    return counters;
}

void parse_snmp6_counters(std::string_view text, NetCounters& counters) {
    for (const auto line : base::split(text, '\n')) {
        const auto parts = base::words(line);
        if (parts.size() != 2) continue;
        const auto prefix = parts[0].find('6');
        const auto value = base::to_int(parts[1]);
        if (!value || prefix == std::string_view::npos) continue;
        counters[std::string(parts[0].substr(0, prefix + 1)) + "." + std::string(parts[0].substr(prefix + 1))] = *value;
    }
}

std::vector<SoftnetCounter> read_softnet_counters(const System& system) {
    return softnet_counters(system.read("/proc/net/softnet_stat").value_or(""));
}

NetCounters read_net_counters(const System& system) {
    auto counters = read_text_counters(system);
    for (const auto& [cpu, name, value] : read_softnet_counters(system))
        counters[name] += value;
    return counters;
}

NetCounters read_namespace_counters(const System& system) {
    auto counters = read_text_counters(system);
    parse_snmp6_counters(system.read("/proc/net/snmp6").value_or(""), counters);
    return counters;
}

std::optional<std::int64_t> difference(const NetCounters& before, const NetCounters& after, const std::string& name) {
    const auto from = before.find(name), to = after.find(name);
    if (from == before.end() || to == after.end()) return std::nullopt;
    return base::rise_of(name, static_cast<std::uint64_t>(from->second), static_cast<std::uint64_t>(to->second));
}

EventCounters read_event_counters(const System& system) {
    EventCounters events;
    events.counters = read_namespace_counters(system);
    parse_stat_counters(system.read("/proc/stat").value_or(""), events.counters);
    for (const auto& [cpu, name, value] : read_softnet_counters(system)) {
        events.counters[name] += value;
        if (std::string_view(name) == "softnet.processed") events.received_by_cpu[cpu] = value;
    }
    events.at = std::chrono::steady_clock::now();
    return events;
}

double events_between(const EventCounters& before, const EventCounters& after, const std::string& counter) {
    return static_cast<double>(
        std::max<std::int64_t>(difference(before.counters, after.counters, counter).value_or(0), 0));
}

std::optional<double> busiest_part(const EventCounters& before, const EventCounters& after) {
    double busiest = 0, all = 0;
    for (const auto& [cpu, now] : after.received_by_cpu) {
        const auto then = before.received_by_cpu.find(cpu);
        if (then == before.received_by_cpu.end()) continue;
        const double received = now - then->second;  // modulo 2^32
        busiest = std::max(busiest, received);
        all += received;
    }
    if (all <= 0) return std::nullopt;
    return busiest / all;
}

}  // namespace stapgen::host
