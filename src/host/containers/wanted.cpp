// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/containers/wanted.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/files.h"
#include "base/text.h"

namespace stapgen::containers {

namespace fs = std::filesystem;

namespace {

/// No inode of a namespace is below it, and no PID is so large.
constexpr std::uint64_t first_namespace = 0xeffffff0;

/// By its cgroups, and the namespaces that what is in them has.
Wanted wanted_of(const Machine& machine, const std::vector<std::string>& paths, const std::string& what) {
    Wanted wanted;
    for (const auto& path : paths) {
        if (const auto id = machine.cgroup_id(path); id != 0) wanted.cgroups.push_back(id);
    }
    bool has_the_hosts = false;
    for (const auto& process : machine.processes) {
        const bool is_in = std::ranges::any_of(paths, [&](const auto& path) { return is_below(process.cgroup, path); });
        if (!is_in || process.netns == 0) continue;
        if (process.netns == machine.host_netns) {
            has_the_hosts = true;
        } else if (std::ranges::find(wanted.netns, process.netns) == wanted.netns.end()) {
            wanted.netns.push_back(process.netns);
        }
    }
    if (has_the_hosts && wanted.netns.empty()) {
        wanted.hints.push_back(
            fmt::format("{} uses the host's network: only packets with a socket in its cgroup are matched", what));
    }
    return wanted;
}

base::Result<Wanted> checked(Wanted wanted, const std::string& what) {
    // As many as the module has room for.
    constexpr std::size_t room = 64;
    if (wanted.cgroups.empty() && wanted.netns.empty()) {
        return base::cannot_here(
            fmt::format("{} cannot be selected: its cgroup is of version 1, and it uses the host's network", what),
            "use -p or --comm for its processes");
    }
    if (wanted.cgroups.size() > room || wanted.netns.size() > room)
        return base::bad_input(fmt::format("{} have more than {} cgroups or network namespaces", what, room),
                               "use --cgroup with their common parent");
    return wanted;
}

/// "web (docker 3f1c0a9be5d2)".
std::string described(const Container& container) {
    constexpr std::size_t digits = 12;
    return fmt::format("{} ({}{}{})", base::printable(container.shown()), container.place.runtime,
                       container.place.runtime.empty() ? "" : " ", container.place.id.substr(0, digits));
}

std::string there_are(const Machine& machine) {
    constexpr std::size_t most = 8;
    std::vector<std::string> shown;
    for (const auto& container : machine.containers)
        shown.push_back(base::printable(container.shown()));
    if (shown.empty()) return "no cgroup here looks like a container's; use --cgroup PATH or --netns PID";
    const auto more = shown.size() > most ? fmt::format(" and {} more", shown.size() - most) : std::string();
    shown.resize(std::min(shown.size(), most));
    return fmt::format("there are {}{}", fmt::join(shown, ", "), more);
}

bool is_called(const Container& container, std::string_view typed) {
    constexpr std::size_t min_digits = 4;
    const auto& [place, name] = std::tie(container.place, container.name);
    if (name.name == typed || name.shown() == typed || place.id == typed) return !typed.empty();
    if (!name.pod.empty() && fmt::format("{}/{}", name.pod, name.name) == typed) return true;
    return typed.size() >= min_digits && place.id.starts_with(typed);
}
bool has_pod(const Container& container, std::string_view typed) {
    const auto& name = container.name;
    if (typed.empty()) return false;
    return name.pod == typed || fmt::format("{}/{}", name.pod_namespace, name.pod) == typed || name.pod_uid == typed ||
           container.place.pod == typed;
}

std::vector<const Container*> those(const Machine& machine, auto are) {
    std::vector<const Container*> found;
    for (const auto& container : machine.containers) {
        if (are(container)) found.push_back(&container);
    }
    return found;
}

base::Error not_found(const Machine& machine, std::string what, const std::string& typed, auto name_of) {
    std::vector<std::string> names;
    for (const auto& container : machine.containers)
        names.push_back(name_of(container));
    return {base::ErrorKind::bad_input, std::move(what), base::meant_hint(typed, names, there_are(machine))};
}

}  // namespace

base::Result<std::uint64_t> netns_named(const fs::path& root, const std::string& typed) {
    if (typed.find('/') != std::string::npos) {
        const auto path = root / fs::path(typed).relative_path();
        if (const auto netns = netns_of_link(path)) return *netns;
        const auto inode = inode_of(path);
        if (inode && *inode >= first_namespace) return *inode;
        return base::bad_input(fmt::format("--netns: {} is not a network namespace", base::printable(typed)),
                               "for example /run/netns/NAME or /proc/PID/ns/net");
    }
    if (const auto inode = inode_of(root / "run/netns" / typed); inode && !typed.empty()) return *inode;
    const auto number = base::to_unsigned(typed);
    if (number && *number >= first_namespace) return *number;
    if (number) {
        if (const auto netns = netns_of_process(root, static_cast<std::int64_t>(*number))) return *netns;
        return base::bad_input(fmt::format("--netns: there is no process {}", *number),
                               "'ps -e' lists the processes, 'lsns -t net' the namespaces with their inodes");
    }
    const auto names = base::names_in(root / "run/netns");
    return base::bad_input(
        fmt::format("--netns: there is no network namespace '{}'", base::printable(typed)),
        base::meant_hint(typed, names,
                         names.empty() ? "'ip netns' lists none; give a PID or an inode ('lsns -t net')"
                                       : fmt::format("'ip netns' lists {}", fmt::join(names, ", "))));
}

base::Result<Wanted> cgroup_named(const fs::path& root, const Machine& machine, std::string typed) {
    constexpr std::string_view mount = "/sys/fs/cgroup";
    std::string path = typed;
    if (is_below(path, mount)) path.erase(0, mount.size());
    if (const auto unified = std::string_view("/unified"); is_below(path, unified)) path.erase(0, unified.size());
    while (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    if (!path.starts_with('/')) path.insert(path.begin(), '/');
    const auto what = fmt::format("--cgroup {}", base::printable(typed));
    if (machine.cgroup_id(path) != 0) return checked(wanted_of(machine, {path}, what), what);
    if (cgroup2_mount(root).empty()) {
        return base::cannot_here(
            fmt::format("{}: there are no cgroups of version 2 here", what),
            "sockets belong to cgroups of version 2 only; --container then uses the network namespace");
    }
    std::vector<std::string> paths;
    for (const auto& [id, known] : machine.cgroups)
        paths.push_back(known);
    return base::bad_input(fmt::format("{}: there is no such cgroup", what),
                           base::meant_hint(path, paths, "'systemd-cgls' lists them; /proc/PID/cgroup is a process's"));
}

base::Result<Wanted> container_named(const Machine& machine, const std::string& typed) {
    auto found = those(machine, [&](const Container& of) { return is_called(of, typed); });
    const auto what = fmt::format("--container {}", base::printable(typed));
    if (found.empty()) {
        return tl::make_unexpected(not_found(machine, fmt::format("{}: no such container runs here", what), typed,
                                             [](const Container& of) { return of.shown(); }));
    }
    if (found.size() > 1) {
        std::vector<std::string> shown;
        for (const auto* of : found)
            shown.push_back(described(*of));
        return base::bad_input(fmt::format("{}: there are {} of that name", what, found.size()),
                               fmt::format("name one by its id: {}", fmt::join(shown, ", ")));
    }
    auto wanted = wanted_of(machine, {found.front()->place.path}, what);
    wanted.containers = std::move(found);
    return checked(std::move(wanted), what);
}

base::Result<Wanted> pod_named(const Machine& machine, const std::string& typed) {
    auto found = those(machine, [&](const Container& of) { return has_pod(of, typed); });
    const auto what = fmt::format("--pod {}", base::printable(typed));
    if (found.empty()) {
        return tl::make_unexpected(not_found(machine, fmt::format("{}: no such pod runs here", what), typed,
                                             [](const Container& of) { return of.pod_shown(); }));
    }
    std::vector<std::string> paths, pods;
    for (const auto* of : found) {
        // Pods of one name in two namespaces.
        const auto& pod = of->place.pod.empty() ? of->name.pod_namespace : of->place.pod;
        if (std::ranges::find(pods, pod) == pods.end()) pods.push_back(pod);
        const auto pod_path = pod_cgroup_in(of->place.path);
        const auto& path = pod_path.empty() ? of->place.path : pod_path;
        if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
    }
    if (pods.size() > 1) {
        return base::bad_input(
            fmt::format("{}: there are {} of that name", what, pods.size()),
            fmt::format("name one with its namespace: {}", base::printable(found.front()->pod_shown())));
    }
    auto wanted = wanted_of(machine, paths, what);
    // Also those that no file names.
    wanted.containers = those(machine, [&](const Container& of) {
        return std::ranges::any_of(paths, [&](const auto& path) { return is_below(of.place.path, path); });
    });
    return checked(std::move(wanted), what);
}

base::Result<std::int64_t> task_in(const fs::path& root, const std::vector<const Container*>& containers,
                                   std::int64_t id, bool whole) {
    std::vector<std::int64_t> found;
    for (const auto* container : containers) {
        for (const auto pid : container->pids) {
            const auto process = root / fmt::format("proc/{}", pid);
            for (const auto& name : whole ? std::vector{fmt::to_string(pid)} : base::names_in(process / "task")) {
                const auto status = base::read_file(whole ? process / "status" : process / "task" / name / "status")
                                        .value_or(std::string());
                for (const auto line : base::split(status, '\n')) {
                    const auto words = base::words(line);
                    // From the outermost namespace to its own.
                    if (words.size() > 1 && words.front() == "NSpid:" && base::to_int(words.back()) == id)
                        found.push_back(base::to_int(name).value_or(0));
                }
            }
        }
    }
    if (found.size() == 1) return found.front();
    const auto what =
        fmt::format("{} {} {}", whole ? "process" : "thread", id, found.empty() ? "is not in" : "is twice in");
    if (found.empty()) {
        return base::bad_input(fmt::format("{} {}", what, described(*containers.front())),
                               "with --container the number is a PID inside it, as its own 'ps' shows");
    }
    return base::bad_input(fmt::format("{} {}: {}", what, described(*containers.front()), fmt::join(found, " and ")),
                           "give that number without --container");
}

}  // namespace stapgen::containers
