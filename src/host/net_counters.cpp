#include "host/net_counters.h"

#include <algorithm>

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

NetCounters read_net_counters(const System& system) {
    NetCounters counters;
    for (const auto* file : {"/proc/net/netstat", "/proc/net/snmp"})
        parse_net_counters(system.read(file).value_or(""), counters);
    return counters;
}

std::optional<std::int64_t> difference(const NetCounters& before, const NetCounters& after, const std::string& name) {
    const auto from = before.find(name), to = after.find(name);
    if (from == before.end() || to == after.end()) return std::nullopt;
    return to->second - from->second;
}

}  // namespace stapgen::host
