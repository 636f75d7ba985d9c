// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/containers/machine.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::containers {

namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& file) {
    constexpr std::size_t most = 1U << 16U;
    return base::read_file(file, most).value_or(std::string());
}

/// The path in lines of /proc/PID/cgroup, "0::/path" and "4:memory:/path".
std::string cgroup_in(std::string_view text) {
    std::string unified, of_container;
    for (const auto line : base::split(text, '\n')) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        const std::string path(line.substr(second + 1));
        if (line.starts_with("0::")) unified = path;
        if (of_container.empty() && !places_in(path).empty()) of_container = path;
    }
    return places_in(unified).empty() && !of_container.empty() ? of_container : unified;
}

std::vector<Process> processes_of(const fs::path& root) {
    std::vector<Process> processes;
    for (const auto& folder : base::entries_of(root / "proc")) {
        const auto pid = base::to_int(folder.filename().string());
        if (!pid) continue;
        auto cgroup = cgroup_in(text_of(folder / "cgroup"));
        const auto netns = netns_of_process(root, *pid).value_or(0);
        if (!cgroup.empty() || netns != 0) processes.push_back({*pid, netns, std::move(cgroup)});
    }
    std::ranges::sort(processes, {}, &Process::pid);
    return processes;
}

/// All below, with what they are called there.
void add_cgroups(const fs::path& folder, const std::string& path, int depth,
                 std::map<std::uint64_t, std::string>& all) {
    constexpr std::size_t most = 65536;
    constexpr int deepest = 32;
    const auto inode = inode_of(folder);
    if (!inode || all.size() >= most || depth > deepest) return;
    all.emplace(*inode, path.empty() ? "/" : path);
    for (const auto& entry : base::entries_of(folder)) {
        std::error_code error;
        if (fs::is_directory(fs::symlink_status(entry, error)))
            add_cgroups(entry, path + '/' + entry.filename().string(), depth + 1, all);
    }
}

/// Names that a runtime has made up: a pod's or a container's says more.
bool is_made_up(std::string_view name) {
    return name.starts_with("cni-") || name.starts_with("netns-");
}

std::vector<Container> containers_of(const std::vector<Process>& processes, const std::map<std::string, Name>& names) {
    std::vector<Container> containers;
    for (const auto& process : processes) {
        for (const auto& place : places_in(process.cgroup)) {
            auto known = std::ranges::find(containers, place.path, [](const Container& of) { return of.place.path; });
            if (known == containers.end()) {
                const auto name = names.find(place.id);
                containers.push_back({place, name == names.end() ? Name() : name->second, {}, {}});
                known = containers.end() - 1;
            }
            if (process.netns != 0) known->netns.insert(process.netns);
            known->pids.push_back(process.pid);
        }
    }
    std::ranges::sort(containers, {}, [](const Container& of) { return of.place.path; });
    return containers;
}

}  // namespace

namespace {
constexpr std::size_t shown_digits = 12;  // as docker and podman show an id
}

bool Container::is_id_shown(std::string_view text) {
    return text.size() == shown_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
std::string Container::shown() const {
    if (auto name_of = name.shown(); !name_of.empty()) return name_of;
    return place.runtime == "nspawn" || place.runtime == "lxc" ? place.id : place.id.substr(0, shown_digits);
}
std::string Container::pod_shown() const {
    return name.pod.empty() ? shown() : Name{{}, name.pod, name.pod_namespace, {}}.shown();
}

std::uint64_t Machine::cgroup_id(std::string_view path) const {
    const auto found = std::ranges::find_if(cgroups, [&](const auto& known) { return known.second == path; });
    return found == cgroups.end() ? 0 : found->first;
}

const Container* Machine::container_at(std::string_view cgroup) const {
    const Container* found = nullptr;
    for (const auto& container : containers) {
        const bool is_nearer = found == nullptr || container.place.path.size() > found->place.path.size();
        if (is_nearer && is_below(cgroup, container.place.path)) found = &container;
    }
    return found;
}

const Container* Machine::container_with(std::uint64_t netns) const {
    const auto found = std::ranges::find_if(containers, [&](const Container& of) { return of.netns.contains(netns); });
    return found == containers.end() ? nullptr : &*found;
}

std::string Machine::netns_name(std::uint64_t inode) const {
    if (inode == 0) return "-";
    const auto named = netns_names.find(inode);
    if (named != netns_names.end() && !is_made_up(named->second)) return named->second;
    if (inode == host_netns) return "host";
    if (const auto* has_it = container_with(inode)) return has_it->pod_shown();
    return named == netns_names.end() ? fmt::format("netns:{}", inode) : named->second;
}

std::string Machine::cgroup_name(std::uint64_t id) const {
    if (id == 0) return "-";
    const auto found = cgroups.find(id);
    return found == cgroups.end() ? fmt::format("cgroup:{}", id) : found->second;
}

std::string Machine::container_name(std::uint64_t cgroup, std::uint64_t netns) const {
    if (cgroup == 0) {
        const auto* has_it = netns == host_netns ? nullptr : container_with(netns);
        return has_it == nullptr ? netns_name(netns) : has_it->pod_shown();
    }
    const auto path = cgroup_name(cgroup);
    const auto* container = container_at(path);
    return container == nullptr ? path : container->shown();
}

Machine look_at(const fs::path& root) {
    Machine machine;
    machine.processes = processes_of(root);
    machine.host_netns = netns_of_process(root, 1).value_or(0);
    // Not those of /run/docker/netns, which are called by digits.
    for (const auto& file : base::entries_of(root / "run/netns"))
        if (const auto inode = inode_of(file)) machine.netns_names[*inode] = file.filename().string();
    if (const auto mount = cgroup2_mount(root); !mount.empty()) add_cgroups(mount, "", 0, machine.cgroups);
    machine.containers = containers_of(machine.processes, read_names(root));
    return machine;
}

fs::path cgroup2_mount(const fs::path& root) {
    for (const auto* place : {"sys/fs/cgroup", "sys/fs/cgroup/unified"}) {
        std::error_code error;
        if (fs::exists(root / place / "cgroup.controllers", error)) return root / place;
    }
    return {};
}

std::optional<std::uint64_t> netns_of_link(const fs::path& path) {
    std::error_code error;
    const auto link = fs::read_symlink(path, error).string();
    constexpr std::string_view begin = "net:[";
    if (!link.starts_with(begin) || !link.ends_with(']')) return std::nullopt;
    return base::to_unsigned(std::string_view(link).substr(begin.size(), link.size() - begin.size() - 1));
}

std::optional<std::uint64_t> netns_of_process(const fs::path& root, std::int64_t pid) {
    return netns_of_link(root / fmt::format("proc/{}/ns/net", pid));
}

void read_device_counters(const fs::path& root) {
    std::set<std::uint64_t> seen;
    for (const auto& process : base::entries_of(root / "proc")) {
        const auto netns = netns_of_link(process / "ns/net");
        if (netns && seen.insert(*netns).second) (void)base::read_file(process / "net/dev");
    }
}

std::optional<std::uint64_t> inode_of(const fs::path& file) {
    struct stat of {};
    if (::stat(file.c_str(), &of) != 0) return std::nullopt;
    return of.st_ino;
}

}  // namespace stapgen::containers
