// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Who runs on this machine, by files alone: what runtimes of containers call cgroups, and where they keep names.
namespace stapgen::containers {

/// The container that a cgroup's path names.
struct Place {
    std::string runtime;  ///< "docker", "containerd", "cri-o", "podman", "nspawn", "lxc"; empty: unknown
    std::string id;       ///< 64 hexadecimal digits; of nspawn and lxc its name
    std::string pod;      ///< the uid of its pod, as Kubernetes has it, or podman's pod's id; empty: none
    std::string path;     ///< of the container's own cgroup; what is below it belongs to the container, too

    bool operator==(const Place&) const = default;
};

/// The containers in which a cgroup is, from the outermost to the innermost; of a path as in /proc/PID/cgroup.
std::vector<Place> places_in(std::string_view path);

/// The cgroup of the pod in which a cgroup is; empty where there is none.
std::string pod_cgroup_in(std::string_view path);

/// Whether a cgroup is `other` or below it.
bool is_below(std::string_view path, std::string_view other);

}  // namespace stapgen::containers
