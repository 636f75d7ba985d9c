#include "host/event_rates.h"

#include <algorithm>

#include "base/text.h"

namespace stapgen::host {

void parse_stat_counters(std::string_view text, NetCounters& counters) {
    for (const auto line : base::split(text, '\n')) {
        // Of the lines of interrupts and softirqs the first number is the sum of the others: thousands of them.
        const auto space = line.find(' ');
        if (space == std::string_view::npos) continue;
        const auto name = line.substr(0, space);
        if (name != "ctxt" && name != "intr" && name != "softirq") continue;
        const auto numbers = line.substr(space + 1);
        const auto value = base::to_int(numbers.substr(0, numbers.find(' ')));
        if (value) counters["stat." + std::string(name)] = *value;
    }
}

EventCounters read_event_counters(const System& system) {
    EventCounters events;
    events.counters = read_net_counters(system);
    parse_snmp6_counters(system.read("/proc/net/snmp6").value_or(""), events.counters);
    parse_stat_counters(system.read("/proc/stat").value_or(""), events.counters);
    const auto softnet = system.read("/proc/net/softnet_stat").value_or("");
    for (const auto& [cpu, name, value] : softnet_counters(softnet)) {
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
    double most = 0, all = 0;
    for (const auto& [cpu, now] : after.received_by_cpu) {
        const auto then = before.received_by_cpu.find(cpu);
        if (then == before.received_by_cpu.end()) continue;
        const double received = now - then->second;  // modulo 2^32
        most = std::max(most, received);
        all += received;
    }
    if (all <= 0) return std::nullopt;
    return most / all;
}

}  // namespace stapgen::host
