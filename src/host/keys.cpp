// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>

#include "base/text.h"

namespace stapgen::host {

namespace {

/// A line of /proc/keys (keyrings(7), proc_keys(5)):
/// "1a2b3c4d I------     3 perm 1f0b0000     0     0 keyring   .machine: 1"
/// "2b3c4d5e I------     1 perm 1f030000     0     0 asymmetri CN of it: 6ccece7e: X509.rsa bb419ea1 []".
struct Key {
    std::uint64_t id = 0;
    std::string type, description;
};

std::optional<Key> parse_key(std::string_view line) {
    constexpr std::size_t before_description = 8;
    const auto fields = base::words(line);
    if (fields.size() <= before_description) return std::nullopt;
    const auto id = base::to_unsigned(fields[0], 16);
    if (!id) return std::nullopt;
    const auto begin = static_cast<std::size_t>(fields[before_description].data() - line.data());
    return Key{*id, std::string(fields[before_description - 1]), std::string(line.substr(begin))};
}

/// The description without what asymmetric_key_describe() puts behind it, and without the key's number.
std::string name_in(std::string_view description) {
    const auto end = description.rfind(": X509.");
    if (end == std::string_view::npos) return {};
    description = description.substr(0, end);
    return base::printable(base::trim(description.substr(0, description.rfind(": "))));
}

}  // namespace

std::optional<std::vector<std::string>> module_keys(const System& system) {
    constexpr std::array<std::string_view, 4> rings{
        ".builtin_trusted_keys:", ".secondary_trusted_keys:", ".machine:", ".platform:"};
    const auto text = system.read("/proc/keys");
    if (!text) return std::nullopt;
    std::map<std::uint64_t, std::string> names;
    std::set<std::string> trusted;
    std::vector<std::uint64_t> found;
    for (const auto line : base::split(*text, '\n')) {
        const auto key = parse_key(line);
        if (!key) continue;
        if (auto name = name_in(key->description); key->type.starts_with("asym") && !name.empty())
            names.emplace(key->id, std::move(name));
        const bool is_ring = key->type == "keyring" &&
                             std::ranges::any_of(rings, [&](auto ring) { return key->description.starts_with(ring); });
        if (is_ring) found.push_back(key->id);
    }
    bool is_read = false;
    for (const auto ring : found) {
        const auto keys = system.keys_in(ring);
        is_read = is_read || keys;
        for (const auto id : keys.value_or(std::vector<std::uint64_t>())) {
            if (const auto name = names.find(id); name != names.end()) trusted.insert(name->second);
        }
    }
    if (!is_read) return std::nullopt;
    return std::vector(trusted.begin(), trusted.end());
}

std::string signer_of(const System& system, const std::filesystem::path& module) {
    const auto modinfo = system.find_program("modinfo");
    if (!modinfo) return {};
    const auto said = system.output_of({modinfo->string(), "-F", "signer", module.string()});
    return said ? base::printable(base::trim(*said)) : std::string();
}

}  // namespace stapgen::host
