// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/containers/owner_names.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace stapgen::containers {

namespace {

/// The machine's name of it; nothing if it has no name for it.
std::optional<std::string> name_on(const Machine& machine, std::string_view key) {
    const auto colon = key.find(':');
    const auto field = key.substr(0, colon), value = key.substr(colon + 1);
    const auto slash = value.find('/');
    const auto first = base::to_unsigned(value.substr(0, slash)).value_or(0);
    std::string name;
    if (field == "netns") name = machine.netns_name(first);
    if (field == "cgroup") name = machine.cgroup_name(first);
    if (field == "container" && slash != std::string_view::npos)
        name = machine.container_name(first, base::to_unsigned(value.substr(slash + 1)).value_or(0));
    const bool is_number = name.starts_with("netns:") || name.starts_with("cgroup:");
    return name.empty() || is_number ? std::nullopt : std::optional(std::move(name));
}

}  // namespace

bool is_owner_field(std::string_view field) {
    return field == "netns" || field == "cgroup" || field == "container";
}

bool OwnerNames::is_named(const std::string& key) const {
    const auto found = names_.find(key);
    return found != names_.end() && !Container::is_id_shown(found->second);
}

void OwnerNames::name(const std::string& key) {
    auto name = name_on(*machine_, key);
    if (!name) return;
    unknown_.erase(key);
    if (names_.size() < max_names || names_.contains(key)) names_.insert_or_assign(key, *std::move(name));
}

void OwnerNames::observe(std::string_view field, std::string_view value) {
    constexpr std::chrono::milliseconds pause{500};
    auto key = fmt::format("{}:{}", field, value);
    if (names_.contains(key)) return;
    if (unknown_.size() < max_names && unknown_.insert(std::move(key)).second) is_due_ = true;
    if (is_due_ && std::chrono::steady_clock::now() - looked_ >= pause) look();
}

void OwnerNames::look() {
    machine_ = look_at(root_);
    looked_ = std::chrono::steady_clock::now();
    is_due_ = false;
    for (const auto& key : std::set<std::string>(unknown_))
        name(key);
    std::map<std::string_view, std::uint64_t> ids;
    for (const auto& [id, path] : machine_->cgroups)
        ids.emplace(path, id);
    for (const auto& process : machine_->processes) {
        const auto found = ids.find(process.cgroup);
        const auto id = found == ids.end() ? 0 : found->second;
        for (auto key :
             {fmt::format("netns:{}", process.netns), fmt::format("cgroup:{}", id),
              fmt::format("container:{}/{}", id, process.netns), fmt::format("container:0/{}", process.netns)}) {
            const bool is_known = process.netns != 0 && (id != 0 || !key.starts_with("cgroup:"));
            if (is_known && !is_named(key)) name(key);
        }
    }
}

const NamesByValue& OwnerNames::names() {
    if (!machine_) look();
    return names_;
}

}  // namespace stapgen::containers
