// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/containers/cgroup_path.h"
#include "host/containers/name_files.h"

namespace stapgen::containers {

struct Process {
    std::int64_t pid = 0;
    std::uint64_t netns = 0;  ///< the inode of its network namespace; 0: it cannot be read
    std::string cgroup;       ///< of version 2, else the one of version 1 that names a container; may be empty
};

/// One that has a process now.
struct Container {
    Place place;
    Name name;
    std::set<std::uint64_t> netns;
    std::vector<std::int64_t> pids;

    /// "web", "default/web-1/nginx"; of what no file names the first digits of its id.
    [[nodiscard]] std::string shown() const;
    /// Whether a text is what is shown of an id.
    static bool is_id_shown(std::string_view text);
    /// The pod's, "default/web-1", else as shown().
    [[nodiscard]] std::string pod_shown() const;
};

/// Containers, processes and namespaces of a machine at one moment. Plain data.
struct Machine {
    std::uint64_t host_netns = 0;                      ///< of process 1
    std::map<std::uint64_t, std::string> netns_names;  ///< inode -> name, as `ip netns` has it
    std::map<std::uint64_t, std::string> cgroups;      ///< inode of its folder -> path, of version 2
    std::vector<Process> processes;
    std::vector<Container> containers;  ///< by their paths

    /// The id of a cgroup; 0: there is none of that path.
    [[nodiscard]] std::uint64_t cgroup_id(std::string_view path) const;
    /// Null: none.
    [[nodiscard]] const Container* container_at(std::string_view cgroup) const;
    [[nodiscard]] const Container* container_with(std::uint64_t netns) const;

    /// "red", "host", the pod or the container that has it, or "netns:4026532201"; "-" of 0.
    [[nodiscard]] std::string netns_name(std::uint64_t inode) const;
    /// The path, or "cgroup:4711"; "-" of 0.
    [[nodiscard]] std::string cgroup_name(std::uint64_t id) const;
    /// The container, else the cgroup's path; where there is no cgroup the pod or container that has the namespace,
    /// else the namespace's name.
    [[nodiscard]] std::string container_name(std::uint64_t cgroup, std::uint64_t netns) const;
};

/// `root`: the folder in which /proc, /sys, /run and /var are. What cannot be read is left out.
Machine look_at(const std::filesystem::path& root);

/// Where cgroups of version 2 are mounted: /sys/fs/cgroup, or with those of version 1 .../unified. Empty: nowhere.
std::filesystem::path cgroup2_mount(const std::filesystem::path& root);

/// The namespace of a link as /proc/PID/ns/net, "net:[4026532201]"; nothing if it is none.
std::optional<std::uint64_t> netns_of_link(const std::filesystem::path& path);

/// The namespace of a process; nothing where that cannot be read.
std::optional<std::uint64_t> netns_of_process(const std::filesystem::path& root, std::int64_t pid);

/// Has the kernel read the counters of the devices of each network namespace in which a process is, for whoever looks
/// on there: /proc/PID/net/dev.
void read_device_counters(const std::filesystem::path& root);

/// The inode that a file has, links followed.
std::optional<std::uint64_t> inode_of(const std::filesystem::path& file);

}  // namespace stapgen::containers
