// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/counter_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <string_view>

#include "base/kernel.h"
#include "host/net_counters.h"

namespace stapgen::host {

namespace {

/// The owner of what belongs to no CPU and no device.
constexpr auto of_all = "-";

/// As SystemTap's text_str() does: a driver's name of a counter must not end a field or a line.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = byte >= 0x20 && byte < 0x7f && c != '\\' && c != '"';
        out += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
    }
    return out;
}

std::int64_t ns_of(auto moment) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(moment.time_since_epoch()).count();
}

std::int64_t monotonic_ns() {
    return ns_of(std::chrono::steady_clock::now());
}

}  // namespace

std::map<CounterId, std::uint64_t> read_counters(const System& system) {
    std::map<CounterId, std::uint64_t> counters;
    for (const auto& [name, value] : read_namespace_counters(system)) {
        if (base::is_counter(name)) counters[{name, of_all}] = static_cast<std::uint64_t>(value);
    }
    for (const auto& [cpu, name, value] : read_softnet_counters(system))
        counters[{name, fmt::format("cpu{}", cpu)}] = value;
    for (const auto& [name, device, value] : system.device_counters())
        counters[{name, device}] += value;
    return counters;
}

std::vector<std::string> counter_sources() {
    return {"/proc/net/netstat",
            "/proc/net/snmp",
            "/proc/net/snmp6",
            "/proc/net/softnet_stat",
            "rtnetlink RTM_GETLINK, as ip -s link",
            "ioctl SIOCETHTOOL on each device, as ethtool -S"};
}

std::vector<std::string> CounterLines::begin() {
    last_ = read_counters(system_);
    const auto now = monotonic_ns();
    epoch_ns_ = ns_of(std::chrono::system_clock::now()) - now;
    return {header_, fmt::format("ready\t{}\t{}", epoch_ns_ + now, now)};
}

void CounterLines::note(const std::string& name, const std::string& of, std::uint64_t rise,
                        std::vector<std::string>& lines) {
    lines.push_back(fmt::format("{}\t{}\t{}\t{}", tag_, escaped(name), escaped(of), rise));
    constexpr std::uint64_t max_total = std::numeric_limits<std::int64_t>::max();
    total_ = std::min(max_total, total_ + rise);  // both are below 2^63
}

std::vector<std::string> CounterLines::rises(const char* kind) {
    std::vector<std::string> lines;
    const auto now = read_counters(system_);
    for (const auto& [id, value] : now) {
        const auto before = last_.find(id);
        // Some of the namespace's files show a counter only when it is no longer 0. A device may have come from
        // another namespace, with what it counted there.
        if (before == last_.end() && id.of != of_all) {
            ++later_;
            continue;
        }
        const auto rise = base::rise_of(id.name, before == last_.end() ? 0 : before->second, value);
        if (rise > 0) note(id.name, id.of, static_cast<std::uint64_t>(rise), lines);
        if (rise < 0) {
            ++fallen_;
            note("reset." + id.name, id.of, 1, lines);
        }
    }
    // A source that is gone is forgotten: devices come and go. A file that could not be read this time comes again.
    std::erase_if(last_, [&](const auto& item) { return item.first.of != of_all && !now.contains(item.first); });
    for (const auto& [id, value] : now)
        last_[id] = value;
    // All that was read is reported: there is nothing to leave out.
    lines.push_back(fmt::format("{0}\t{1}\tseen={2}\treported={2}\tappeared-later={3}\treset={4}", kind,
                                epoch_ns_ + monotonic_ns(), total_, later_, fallen_));
    return lines;
}

std::vector<std::string> CounterLines::tick() {
    return rises("tick");
}

std::vector<std::string> CounterLines::end() {
    return rises("end");
}

}  // namespace stapgen::host
