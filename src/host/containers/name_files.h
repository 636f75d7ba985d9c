// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace stapgen::containers {

/// The name of a container.
struct Name {
    std::string name;                ///< "web"
    std::string pod, pod_namespace;  ///< of Kubernetes; empty: it is in no pod
    std::string pod_uid;

    /// "web", or "default/web-1/nginx" of one in a pod.
    [[nodiscard]] std::string shown() const;
    bool operator==(const Name&) const = default;
};

/// The names of all containers in the files of runtimes and kubelet, by their ids: docker, podman (also of
/// users), containerd, CRI-O. `root`: the folder in which /run and /var are. What cannot be read is left out. Values of
/// these files are read by their keys; passwords among the others are not kept.
std::map<std::string, Name> read_names(const std::filesystem::path& root);

}  // namespace stapgen::containers
