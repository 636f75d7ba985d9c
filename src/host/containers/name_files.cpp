// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/containers/name_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files.h"
#include "base/json_text.h"
#include "base/limits.h"
#include "base/text.h"

namespace stapgen::containers {

namespace {

using Json = nlohmann::json;
using Names = std::map<std::string, Name>;
namespace fs = std::filesystem;

/// Of a file that is small where it is what it is taken for.
Json json_of(const fs::path& file) {
    const auto text = base::read_found(file, base::limits::json_bytes);
    return text ? base::parse_json(*text).value_or(Json()) : Json();
}

std::string text_at(const Json& json, const std::string& key) {
    if (!json.is_object()) return {};
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}
const Json& part_at(const Json& json, const std::string& key) {
    static const Json none;
    if (!json.is_object()) return none;
    const auto found = json.find(key);
    return found == json.end() ? none : *found;
}

/// A name that is known already stays.
void add(Name& to, const Name& more) {
    for (const auto part : {&Name::name, &Name::pod, &Name::pod_namespace, &Name::pod_uid})
        if ((to.*part).empty()) to.*part = more.*part;
}

/// kubelet's labels of a container.
Name of_labels(const Json& labels) {
    return {text_at(labels, "io.kubernetes.container.name"), text_at(labels, "io.kubernetes.pod.name"),
            text_at(labels, "io.kubernetes.pod.namespace"), text_at(labels, "io.kubernetes.pod.uid")};
}
/// Of "k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT", else it is the name.
Name of_runtime_name(std::string_view name) {
    const auto parts = base::split(name, '_');
    if (parts.size() < 5 || parts[0] != "k8s") return {std::string(name), {}, {}, {}};
    return {std::string(parts[1]), std::string(parts[2]), std::string(parts[3]), std::string(parts[4])};
}

/// Kubelet's links: POD_NAMESPACE_CONTAINER-ID.log.
void read_kubelet(const fs::path& root, Names& names) {
    for (const auto& entry : base::entries_of(root / "var/log/containers")) {
        const auto stem = entry.stem().string();
        const auto dash = stem.rfind('-');
        const auto parts = base::split(std::string_view(stem).substr(0, std::min(dash, stem.size())), '_');
        if (dash == std::string::npos || entry.extension() != ".log" || parts.size() != 3) continue;
        add(names[stem.substr(dash + 1)], {std::string(parts[2]), std::string(parts[0]), std::string(parts[1]), {}});
    }
}

/// containerd's bundles: of Kubernetes the annotations of its CRI plugin, of nerdctl its own.
void read_containerd(const fs::path& root, Names& names) {
    for (const auto& space : base::entries_of(root / "run/containerd/io.containerd.runtime.v2.task")) {
        for (const auto& bundle : base::entries_of(space)) {
            const auto json = json_of(bundle / "config.json");
            const auto& annotations = part_at(json, "annotations");
            if (!annotations.is_object()) continue;
            const std::string cri = "io.kubernetes.cri.";
            Name name{text_at(annotations, cri + "container-name"), text_at(annotations, cri + "sandbox-name"),
                      text_at(annotations, cri + "sandbox-namespace"), text_at(annotations, cri + "sandbox-uid")};
            if (name.name.empty()) name.name = text_at(annotations, "nerdctl/name");
            if (name.name.empty() && !name.pod.empty()) name.name = "pause";
            if (!name.name.empty()) add(names[bundle.filename().string()], name);
        }
    }
}

void read_list(const fs::path& list, Names& names) {
    const auto json = json_of(list);
    if (!json.is_array()) return;
    for (const auto& container : json) {
        const auto id = text_at(container, "id");
        const auto& called = part_at(container, "names");
        if (id.empty() || !called.is_array() || called.empty() || !called[0].is_string()) continue;
        add(names[id], of_runtime_name(called[0].get<std::string>()));
    }
}

/// The folders of a storage driver's containers: overlay-containers, vfs-containers, btrfs-containers.
std::vector<fs::path> folders_of_drivers(const fs::path& storage) {
    auto folders = base::entries_of(storage);
    std::erase_if(folders, [](const fs::path& folder) { return !folder.string().ends_with("-containers"); });
    return folders;
}

/// containers/storage, which podman and CRI-O have: its list, and that of what is not to outlive a boot.
void read_storage(const fs::path& storage, Names& names) {
    for (const auto& folder : folders_of_drivers(storage)) {
        read_list(folder / "containers.json", names);
        read_list(folder / "volatile-containers.json", names);
    }
}
void read_storages(const fs::path& root, Names& names) {
    read_storage(root / "var/lib/containers/storage", names);
    auto homes = base::entries_of(root / "home");
    homes.push_back(root / "root");
    for (const auto& home : homes)
        read_storage(home / ".local/share/containers/storage", names);
    // CRI-O's own annotations.
    for (const auto& folder : folders_of_drivers(root / "run/containers/storage")) {
        for (const auto& container : base::entries_of(folder)) {
            const auto json = json_of(container / "userdata/config.json");
            const auto name = of_labels(part_at(json, "annotations"));
            if (!name.name.empty() || !name.pod.empty()) add(names[container.filename().string()], name);
        }
    }
}

void read_docker(const fs::path& root, Names& names) {
    for (const auto& folder : base::entries_of(root / "var/lib/docker/containers")) {
        const auto json = json_of(folder / "config.v2.json");
        auto called = text_at(json, "Name");
        if (called.starts_with('/')) called.erase(0, 1);
        if (called.empty()) continue;
        auto name = of_labels(part_at(part_at(json, "Config"), "Labels"));
        // cri-dockerd's pause has a label of that kind that says POD.
        add(name, of_runtime_name(called));
        add(names[folder.filename().string()], name);
    }
}

}  // namespace

std::string Name::shown() const {
    if (pod.empty()) return name;
    return (pod_namespace.empty() ? pod : pod_namespace + '/' + pod) + (name.empty() ? "" : '/' + name);
}

std::map<std::string, Name> read_names(const fs::path& root) {
    Names names;
    read_docker(root, names);
    read_containerd(root, names);
    read_storages(root, names);
    read_kubelet(root, names);
    return names;
}

}  // namespace stapgen::containers
