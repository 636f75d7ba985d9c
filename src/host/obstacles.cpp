#include <fmt/format.h>

#include "host/host.h"

namespace stapgen::host {

namespace {

base::Error cannot(std::string what, std::string hint) {
    return {base::ErrorKind::cannot_here, std::move(what), std::move(hint)};
}

std::string install(const Target& target, std::string_view debian, std::string_view redhat) {
    const auto apt = fmt::format("apt-get install {}", debian);
    const auto dnf = fmt::format("dnf install {}", redhat);
    switch (target.distribution) {
        case Distribution::debian:
            return apt;
        case Distribution::redhat:
            return dnf;
        case Distribution::other:
            break;
    }
    return fmt::format("on Debian or Ubuntu: {}; on Fedora or RHEL: {}", apt, dnf);
}

}  // namespace

std::vector<base::Error> obstacles_to_compile(const Target& target) {
    std::vector<base::Error> found;
    const auto headers = fmt::format("linux-headers-{}", target.release);
    const auto devel = fmt::format("kernel-devel-{}", target.release);
    const bool no_headers = !target.build_has_config || !target.build_has_makefile;
    if (target.stap.empty()) {
        const bool by_path = target.stap_asked.find('/') != std::string::npos;
        const auto what = by_path ? fmt::format("{} is not a program", target.stap_asked)
                                  : fmt::format("SystemTap is not installed: no '{}' in PATH", target.stap_asked);
        found.push_back(cannot(what, no_headers ? install(target, "systemtap " + headers, "systemtap " + devel)
                                                : install(target, "systemtap", "systemtap")));
    } else if (!target.stap_version) {
        found.push_back(cannot(fmt::format("{} --version does not say which SystemTap it is", target.stap.string()),
                               "name a working stap with --stap PATH or $STAPGEN_STAP"));
    }
    if (target.release.empty()) {
        found.push_back(
            cannot(fmt::format("{} does not say which kernel it builds", target.build.string()),
                   "its include/config/kernel.release is missing: name a configured and built kernel tree with -r"));
    } else if (no_headers) {
        const auto missing = target.build / (target.build_has_config ? "Makefile" : ".config");
        auto hint = install(target, headers, devel);
        if (target.running) {
            hint += "; where there is no such package, compile on a machine that has it (stapgen build -r " +
                    target.release + ") and run the module here with stapgen exec";
        }
        found.push_back(
            cannot(fmt::format("no headers of kernel {}: {} is missing", target.release, missing.string()), hint));
    }
    return found;
}

std::vector<base::Error> obstacles_to_debuginfo(const Target& target) {
    if (!target.debuginfo.empty()) return {};
    const auto remedy = install(target, fmt::format("linux-image-{}-dbg", target.release),
                                fmt::format("--enablerepo='*debug*' kernel-debuginfo-{}", target.release));
    return {cannot(fmt::format("no debuginfo of kernel {}: there is no /usr/lib/debug/boot/vmlinux-{} nor another file "
                               "that stap would take",
                               target.release, target.release),
                   remedy + "; or set DEBUGINFOD_URLS, or leave --debuginfo require out")};
}

std::vector<base::Error> obstacles_to_load(const Target& target) {
    std::vector<base::Error> found;
    // First: to those it is not for, staprun looks as if it were not there.
    if (target.privilege == Privilege::none) {
        found.push_back(cannot("not allowed to load kernel modules: neither root nor in the groups stapusr and stapdev",
                               "run it with sudo, or: usermod -aG stapusr,stapdev USER, then log in again"));
    }
    if (target.staprun.empty()) {
        found.push_back(cannot("SystemTap's loader is not installed: no 'staprun' in PATH",
                               install(target, "systemtap-runtime", "systemtap-runtime")));
    }
    if (!target.running && !target.release.empty()) {
        found.push_back(cannot(fmt::format("kernel {} is not the one that runs here", target.release),
                               "make the module with stapgen build, copy it to a machine that runs this "
                               "kernel, and run it there "
                               "with stapgen exec"));
    }
    if (!target.loads_modules) {
        found.push_back(cannot("the running kernel has no loadable modules (no /proc/modules)",
                               "SystemTap needs them: use a distribution's kernel; a container or a small virtual "
                               "machine often has none, so run this on the host or in stapgen's lab"));
    } else if (!target.has_kprobes) {
        found.push_back(cannot("the running kernel has no kprobes (no register_kprobe in /proc/kallsyms)",
                               "use a kernel with CONFIG_KPROBES=y, as distributions ship it"));
    }
    if (target.modules_locked) {
        found.push_back(
            cannot(fmt::format("the kernel refuses unsigned modules: {}", target.modules_locked_by),
                   "switch Secure Boot off (mokutil --disable-validation), or have modules signed: man stap-server, "
                   "and stap --sign-module with an enrolled key"));
    }
    return found;
}

base::Result<void> none_of(const std::vector<base::Error>& obstacles) {
    if (obstacles.empty()) return {};
    return tl::make_unexpected(obstacles.front());
}

}  // namespace stapgen::host
