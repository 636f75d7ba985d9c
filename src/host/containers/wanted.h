// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/containers/machine.h"

namespace stapgen::containers {

/// The owners that a filter asks for, as tapsets/c/owner_filter.h takes it.
struct Wanted {
    std::vector<std::uint64_t> cgroups;  ///< ids, with all that is below them
    std::vector<std::uint64_t> netns;    ///< of what is in these, but for the host's
    std::vector<std::string> hints;      ///< for the user
    std::vector<const Container*> containers{};
};

/// The inode of a network namespace: PID, a name of `ip netns`, the path of a file that is one, or the inode itself.
base::Result<std::uint64_t> netns_named(const std::filesystem::path& root, const std::string& typed);

/// A cgroup by its path, with or without /sys/fs/cgroup before it.
base::Result<Wanted> cgroup_named(const std::filesystem::path& root, const Machine& machine, std::string typed);

/// A container by its name, the beginning of its id, or of a pod POD/CONTAINER or NAMESPACE/POD/CONTAINER.
base::Result<Wanted> container_named(const Machine& machine, const std::string& typed);

/// All containers of a pod: POD, NAMESPACE/POD, or its uid.
base::Result<Wanted> pod_named(const Machine& machine, const std::string& typed);

/// The number on this machine of a thread, or with `whole` of a process, that has that number in its own PID namespace
/// inside of these containers.
base::Result<std::int64_t> task_in(const std::filesystem::path& root, const std::vector<const Container*>& containers,
                                   std::int64_t id, bool whole);

}  // namespace stapgen::containers
