// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/containers/cgroup_path.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace stapgen::containers {

namespace {

constexpr std::size_t id_digits = 64;

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
bool is_id(std::string_view text) {
    return text.size() == id_digits && is_hex(text);
}

struct Prefix {
    std::string_view text, runtime;
};
/// The text before the id in a scope of systemd's, or with the cgroupfs driver in a folder's name. What watches a
/// container (crio-conmon-ID, libpod-conmon-ID) is none.
constexpr auto prefixes = std::to_array<Prefix>({{"docker-", "docker"},
                                                 {"cri-containerd-", "containerd"},
                                                 {"nerdctl-", "containerd"},
                                                 {"crio-", "cri-o"},
                                                 {"libpod-", "podman"}});

/// Without `\x2d` and the like of systemd's names.
std::string unescaped(std::string_view name) {
    std::string text;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const auto byte = name.substr(i).starts_with("\\x") ? base::to_unsigned(name.substr(i + 2, 2), 16)
                                                            : std::optional<std::uint64_t>();
        text += byte ? static_cast<char>(*byte) : name[i];
        if (byte) i += 3;
    }
    return text;
}

std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
    if (!text.starts_with(begin) || !text.ends_with(end) || text.size() <= begin.size() + end.size()) return {};
    return text.substr(begin.size(), text.size() - begin.size() - end.size());
}

/// The uid in "kubepods-burstable-podUID.slice" or "podUID", with - for systemd's _; that of a static pod is 32 digits.
/// The name of podman's "machine-libpod_pod_ID.slice".
std::string pod_in(std::string_view part) {
    constexpr std::string_view podman = "libpod_pod_", kubernetes = "pod";
    constexpr std::size_t uuid = 36, hash = 32;
    if (part.ends_with(".slice")) part.remove_suffix(std::string_view(".slice").size());
    if (const auto at = part.find(podman); at != std::string_view::npos) {
        const auto id = part.substr(at + podman.size());
        return is_id(id) ? std::string(id) : std::string();
    }
    const auto at = part.rfind(kubernetes);
    if (at == std::string_view::npos || (at > 0 && part[at - 1] != '-')) return {};
    std::string uid(part.substr(at + kubernetes.size()));
    std::ranges::replace(uid, '_', '-');
    auto digits = uid;
    std::erase(digits, '-');
    return (uid.size() == uuid || uid.size() == hash) && digits.size() == hash && is_hex(digits) ? uid : std::string();
}

/// Without its path and pod; without an id if it is no container's. `before`: the part before it.
Place container_in(std::string_view part, std::string_view before) {
    if (part.ends_with(".scope")) part.remove_suffix(std::string_view(".scope").size());
    // "kubepods-podUID.slice:cri-containerd:ID", from a runc that gets systemd's name but manages cgroups itself.
    if (const auto colon = part.rfind(':'); colon != std::string_view::npos) {
        auto prefix = part.substr(0, colon);
        prefix = prefix.substr(prefix.rfind(':') + 1);
        const auto known = std::ranges::find_if(
            prefixes, [&](const Prefix& of) { return of.text.substr(0, of.text.size() - 1) == prefix; });
        const auto id = part.substr(colon + 1);
        if (!is_id(id)) return {};
        return {known == prefixes.end() ? "" : std::string(known->runtime), std::string(id), {}, {}};
    }
    for (const auto& [text, runtime] : prefixes) {
        if (part.starts_with(text) && is_id(part.substr(text.size())))
            return {std::string(runtime), std::string(part.substr(text.size())), {}, {}};
    }
    // A name in podman's folder that is no "libpod-ID" is a pod.
    if (is_id(part) && before != "libpod_parent")
        return {before == "docker" ? "docker" : "", std::string(part), {}, {}};
    return {};
}

/// Those that are called by a name. `part` is whole.
Place named_in(std::string_view part, std::string_view before) {
    if (before == "machine.slice") {
        auto name = between(part, "machine-", ".scope");
        if (name.empty()) name = between(part, "systemd-nspawn@", ".service");
        if (!name.empty()) return {"nspawn", unescaped(name), {}, {}};
    }
    if (part.starts_with("lxc.payload.")) return {"lxc", std::string(part.substr(12)), {}, {}};
    if (before == "lxc" || before == "lxc.payload") return {"lxc", std::string(part), {}, {}};
    return {};
}

/// Calls with each part of a path, the one before it, and the path to its end.
void for_each_part(std::string_view path, auto take) {
    std::string_view before;
    for (std::size_t at = 0; at < path.size();) {
        const auto begin = path.find_first_not_of('/', at);
        if (begin == std::string_view::npos) return;
        const auto end = std::min(path.find('/', begin), path.size());
        const auto part = path.substr(begin, end - begin);
        take(part, before, path.substr(0, end));
        before = part;
        at = end;
    }
}

}  // namespace

std::vector<Place> places_in(std::string_view path) {
    std::vector<Place> places;
    std::string pod;
    for_each_part(path, [&](std::string_view part, std::string_view before, std::string_view up_to) {
        // "kubepods-podUID.slice:cri-containerd:ID" holds both.
        if (auto found = pod_in(part.substr(0, part.find(':'))); !found.empty()) pod = std::move(found);
        auto place = container_in(part, before);
        if (place.id.empty()) place = named_in(part, before);
        if (place.id.empty()) return;
        place.pod = pod;
        place.path = up_to;
        places.push_back(std::move(place));
    });
    return places;
}

std::string pod_cgroup_in(std::string_view path) {
    std::string found;
    for_each_part(path, [&](std::string_view part, std::string_view before, std::string_view up_to) {
        const bool is_podman = before == "libpod_parent" && is_id(part);
        if (is_podman || (part.find(':') == std::string_view::npos && !pod_in(part).empty())) found = up_to;
    });
    return found;
}

bool is_below(std::string_view path, std::string_view other) {
    while (other.ends_with('/'))
        other.remove_suffix(1);
    return path.starts_with(other) && (path.size() == other.size() || path[other.size()] == '/');
}

}  // namespace stapgen::containers
