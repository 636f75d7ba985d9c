// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "host/containers/machine.h"

namespace stapgen::containers {

/// "netns:4026532201" -> "red": what the numbers in records of a measurement stand for, by field and value.
using NamesByValue = std::map<std::string, std::string>;

/// Whether a field of records holds such numbers: netns, cgroup, and container, which has "CGROUP/NETNS".
bool is_owner_field(std::string_view field);

/// The name of a number, by the names that are known; where none is: "netns:4026532201", "cgroup:4711", "-" of 0.
/// `find` gives the name of a key as in NamesByValue, or null. Nothing if that is no such value.
template <class Find>
std::optional<std::string> owner_name(std::string_view field, std::string_view value, Find find);

/// Names of this machine's namespaces, cgroups and containers, for as long as something is measured: what is gone by
/// its end is still known.
class OwnerNames {
  public:
    static constexpr std::size_t max_names = 4096;

    explicit OwnerNames(std::filesystem::path root = "/") : root_(std::move(root)) {}

    /// A record has it. Of a new value the machine is looked at, once and not more often than twice a second.
    void observe(std::string_view field, std::string_view value);
    /// Looks at the machine: at the beginning and at the end.
    void look();
    /// Names of all that has been seen, and of all that had a process. Looks if that was never done.
    const NamesByValue& names();

  private:
    void name(const std::string& key);
    /// Not by the digits of its id: the file with its name may come later.
    bool is_named(const std::string& key) const;

    std::filesystem::path root_;
    std::optional<Machine> machine_;
    std::chrono::steady_clock::time_point looked_{};
    bool is_due_ = false;  ///< a new value was seen since
    NamesByValue names_;
    std::set<std::string> unknown_;  ///< keys that were seen
};

template <class Find>
std::optional<std::string> owner_name(std::string_view field, std::string_view value, Find find) {
    const auto key = [](std::string_view of, std::string_view number) {
        return std::string(of) + ':' + std::string(number);
    };
    if (!is_owner_field(field) || value.find_first_not_of("0123456789/") != std::string_view::npos) return std::nullopt;
    if (const std::string* name = find(key(field, value))) return *name;
    if (field != "container") return value == "0" ? "-" : key(field, value);
    const auto slash = value.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const auto cgroup = value.substr(0, slash);
    return cgroup == "0" ? owner_name("netns", value.substr(slash + 1), find) : owner_name("cgroup", cgroup, find);
}

}  // namespace stapgen::containers
