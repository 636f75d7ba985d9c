// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/kernel.h"
#include "base/text.h"
#include "decode/counter_reader.h"

namespace stapgen::decode {

namespace {

using Json = nlohmann::json;

void put_nstat(const Json& object, std::vector<CounterValue>& out) {
    for (const auto& [key, value] : object.items()) {
        const auto name = base::grouped_counter_name(key);
        if (name && base::is_counter(*name) && value.is_number_unsigned())
            out.push_back({*name, "", value.get<std::uint64_t>()});
    }
}

/// Member of struct rtnl_link_stats64, of one of print_stats64()'s and print_vf_stats64()'s in iproute2's
/// ip/ipaddress.c.
std::string member_of(std::string_view direction, const std::string& key) {
    if (base::contains_word("multicast collisions carrier_changes", key) || key.starts_with(direction)) return key;
    return fmt::format("{}_{}", direction, key == "otherhost" ? "otherhost_dropped" : key);
}

bool is_plain(std::string_view name) {
    constexpr std::size_t max_length = 64;
    return name.size() <= max_length && std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

void put_link(const Json& stats, const std::string& device, std::vector<CounterValue>& out) {
    for (const std::string direction : {"rx", "tx"}) {
        const auto counters = stats.find(direction);
        if (counters == stats.end() || !counters->is_object()) continue;
        for (const auto& [key, value] : counters->items()) {
            if (is_plain(key) && value.is_number_unsigned())
                out.push_back({member_of(direction, key), device, value.get<std::uint64_t>()});
        }
    }
}

void put_links(const Json& devices, std::vector<CounterValue>& out) {
    for (const auto& device : devices) {
        if (!device.is_object() || !device.contains("ifname") || !device["ifname"].is_string()) continue;
        const auto name = device["ifname"].get<std::string>();
        if (!is_plain(name)) continue;
        for (const auto* key : {"stats64", "stats"}) {
            if (device.contains(key) && device[key].is_object()) put_link(device[key], name, out);
        }
        if (!device.contains("vfinfo_list")) continue;
        for (const auto& vf : device["vfinfo_list"]) {
            const bool has_stats = vf.is_object() && vf.contains("vf") && vf["vf"].is_number_unsigned() &&
                                   vf.contains("stats") && vf["stats"].is_object();
            if (has_stats) put_link(vf["stats"], fmt::format("{}.vf{}", name, vf["vf"].get<std::uint64_t>()), out);
        }
    }
}

}  // namespace

bool read_json_counters(std::string_view line, std::vector<CounterValue>& out) {
    const bool is_nstat = line.starts_with(R"({"kernel":{)");
    const bool is_ip = line.starts_with("[{") && line.find(R"("stats)") != line.npos;
    if (!is_nstat && !is_ip) return false;
    const auto json = base::parse_json(line);
    if (!json || json->is_discarded()) return false;
    if (is_nstat) {
        put_nstat((*json)["kernel"], out);
    } else {
        put_links(*json, out);
    }
    return !out.empty();
}

}  // namespace stapgen::decode
