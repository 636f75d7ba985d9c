#include "host/net_counters.h"

#include <algorithm>

#include "base/kernel_counters.h"
#include "base/text.h"

namespace stapgen::host {

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

void parse_softnet_counters(std::string_view text, NetCounters& counters) {
    for (const auto& [cpu, name, value] : softnet_counters(text))
        counters[name] += value;
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

NetCounters read_net_counters(const System& system) {
    NetCounters counters;
    for (const auto* file : {"/proc/net/netstat", "/proc/net/snmp"})
        parse_net_counters(system.read(file).value_or(""), counters);
    parse_softnet_counters(system.read("/proc/net/softnet_stat").value_or(""), counters);
    return counters;
}

std::optional<std::int64_t> difference(const NetCounters& before, const NetCounters& after, const std::string& name) {
    const auto from = before.find(name), to = after.find(name);
    if (from == before.end() || to == after.end()) return std::nullopt;
    const auto risen = static_cast<std::uint64_t>(to->second) - static_cast<std::uint64_t>(from->second);
    return name.starts_with("softnet.") ? static_cast<std::uint32_t>(risen) : static_cast<std::int64_t>(risen);
}

}  // namespace stapgen::host
