// SPDX-License-Identifier: GPL-2.0-or-later
// Where others decide what this kernel loads: containers, and systems that are delivered whole.

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "doctor/checks.h"
#include "host/packages.h"

namespace stapgen::doctor {

namespace {

struct Platform {
    std::string_view id;       ///< in /etc/os-release; a container has that of its image
    std::string_view release;  ///< a part of the kernel's release, which containers see, too; empty: it has no mark
    std::string_view found;
    std::string_view instead;
};

/// By their makers' pages, WSL and Flatcar by others' reports, ChromeOS by its LoadPin alone; none was tried.
/// docs/guide/troubleshooting.md has what it says.
constexpr std::array platforms{
    Platform{"", "icrosoft", "WSL: the kernel is Microsoft's, and no distribution has its headers",
             "run stapgen on a Linux machine or in a virtual machine, or boot WSL with a kernel that you built, with "
             "modules"},
    Platform{
        "bottlerocket", "", "Bottlerocket: it has no headers, and its kernel refuses modules that are not its own",
        "run stapgen on a node with another system, or set settings.kernel.lockdown to none, reboot, and build the "
        "module with Bottlerocket's kmod kit"},
    Platform{"talos", "-talos", "Talos: its kernel takes modules of its own build only, whose key nobody has",
             "run stapgen on a node with another system"},
    Platform{"flatcar", "-flatcar", "Flatcar: it has neither a compiler nor the headers of its kernel",
             "build the module in Flatcar's developer container, and run it in a container with --privileged: stapgen "
             "exec"},
    Platform{"cos", "", "Container-Optimized OS: except on nodes with a GPU it loads only modules of its own image",
             "run stapgen on a node with another system"},
    Platform{"chromeos", "", "ChromeOS: its kernel loads modules of its own image only",
             "run stapgen on a Linux machine or in a virtual machine"},
};

/// What runs the container that this is: "docker", "podman", "lxc"; empty where nothing says that it is one.
std::string container_of(const host::System& system) {
    auto said = short_text(system, "/run/systemd/container");
    if (!said.empty()) return said;
    // Only root may read it.
    const auto environment = system.read("/proc/1/environ").value_or("");
    for (const auto variable : base::split(environment, '\0')) {
        constexpr std::string_view name = "container=";
        if (variable.starts_with(name)) return std::string(variable.substr(name.size()));
    }
    if (system.exists("/.dockerenv")) return "docker";
    if (system.exists("/run/.containerenv")) return "podman";
    const auto groups = system.read("/proc/1/cgroup").value_or("");
    for (const auto* maker : {"kubepods", "docker", "lxc"}) {
        if (groups.find(fmt::format("/{}", maker)) != std::string::npos) return maker;
    }
    return {};
}

}  // namespace

Check platform(const host::System& system, const Question& /*question*/) {
    const auto id = host::id_of(system.read("/etc/os-release").value_or(""));
    const auto release = system.running_release();
    for (const auto& each : platforms) {
        const bool is_it = (!each.id.empty() && id == each.id) ||
                           (!each.release.empty() && release.find(each.release) != std::string::npos);
        if (is_it) return note(std::string(each.found), {std::string(each.instead)});
    }
    return {};
}

Check container(const host::System& system, const Question& question) {
    const auto maker = container_of(system);
    if (maker.empty() || !question.target.running) return {};
    auto found = fmt::format("a container ({}), whose kernel is the host's", maker);
    if (question.target.build_has_config) return ok(std::move(found));
    return missing(found + ": its headers are not in here",
                   {"run stapgen on the host, or start the container with --privileged -v /lib/modules:/lib/modules -v "
                    "/usr/src:/usr/src"});
}

}  // namespace stapgen::doctor
