// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/text.h"

namespace stapgen::host {

namespace {

/// A release of Fedora or RHEL, taken apart: "5.14.0-427.el9.x86_64+rt" is of kernel-rt.
struct RedhatKernel {
    std::string kernel = "kernel", version;
};

RedhatKernel redhat_kernel(std::string_view release) {
    const auto plus = std::min(release.find('+'), release.size());
    RedhatKernel names{"kernel", std::string(release.substr(0, plus))};
    if (plus < release.size()) names.kernel += "-" + std::string(release.substr(plus + 1));
    if (release.find("uek") != std::string_view::npos) names.kernel += "-uek";
    return names;
}

/// The same of openSUSE or SLES: "5.14.21-150400.24.63-default".
RedhatKernel suse_kernel(std::string_view release) {
    const auto dash = release.rfind('-');
    if (dash == std::string_view::npos) return {"kernel-default", std::string(release)};
    return {"kernel-" + std::string(release.substr(dash + 1)), std::string(release.substr(0, dash))};
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> endings) {
    return std::ranges::any_of(endings, [&](std::string_view ending) { return text.ends_with(ending); });
}

/// Its debuginfo packages end in -dbgsym, and are in an archive of their own.
bool is_of_ubuntu(std::string_view release) {
    // SUSE's has a dot there: "5.14.21-150400.24.63-azure".
    const auto first = release.find('-'), last = release.rfind('-');
    if (first == last || !base::is_decimal(release.substr(first + 1, last - first - 1))) return false;
    return ends_with_any(release, {"-generic", "-lowlatency", "-virtual", "-aws", "-azure", "-gcp", "-oracle", "-kvm"});
}

/// RHEL 7 and older, Amazon Linux 2: no dnf.
bool has_yum_only(std::string_view release) {
    constexpr std::array<std::string_view, 4> marks{".el5", ".el6", ".el7", ".amzn2."};
    return std::ranges::any_of(marks, [&](auto mark) { return release.find(mark) != std::string_view::npos; });
}

/// As one word of a shell: a release is what a file of a build tree says.
std::string quoted(const std::string& word) {
    return base::shell_quoted({word});
}

Commands install(std::string_view debian, std::string_view redhat, std::string_view suse) {
    return {fmt::format("apt-get install {}", debian), fmt::format("dnf install {}", redhat),
            fmt::format("zypper install {}", suse)};
}

/// In the text of /etc/os-release, without quotes.
std::string value_of(std::string_view os_release, std::string_view key) {
    for (const auto line : base::split(os_release, '\n')) {
        const auto equals = line.find('=');
        if (equals == std::string_view::npos || line.substr(0, equals) != key) continue;
        auto value = base::trim(line.substr(equals + 1));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'')) {
            value = value.substr(1, value.size() - 2);
        }
        return std::string(value);
    }
    return {};
}

}  // namespace

std::string id_of(std::string_view os_release) {
    return value_of(os_release, "ID");
}

Distribution distribution_of(std::string_view os_release) {
    const auto like = fmt::format(" {} {} ", value_of(os_release, "ID"), value_of(os_release, "ID_LIKE"));
    const auto is_like = [&](std::string_view name) {
        return like.find(fmt::format(" {} ", name)) != std::string::npos;
    };
    if (is_like("debian") || is_like("ubuntu")) return Distribution::debian;
    if (is_like("fedora") || is_like("rhel") || is_like("centos")) return Distribution::redhat;
    if (is_like("suse") || is_like("opensuse") || is_like("sles")) return Distribution::suse;
    return Distribution::other;
}

Distribution distribution_of_release(std::string_view release) {
    constexpr std::array<std::string_view, 3> redhat{".el", ".fc", ".amzn"};
    const auto has = [&](std::string_view mark) { return release.find(mark) != std::string_view::npos; };
    if (std::ranges::any_of(redhat, has)) return Distribution::redhat;
    if (is_of_ubuntu(release) || has("+deb") || ends_with_any(release, {"-amd64", "-arm64", "-686-pae", "-686"}))
        return Distribution::debian;
    return ends_with_any(release, {"-default", "-preempt", "-azure"}) ? Distribution::suse : Distribution::other;
}

Commands everywhere(const std::string& command) {
    return {command, command, command};
}

std::string command_here(const Commands& commands, Distribution distribution) {
    switch (distribution) {
        case Distribution::debian:
            return commands.debian;
        case Distribution::redhat:
            return commands.redhat;
        case Distribution::suse:
            return commands.suse;
        case Distribution::other:
            break;
    }
    if (commands == everywhere(commands.debian)) return commands.debian;
    return fmt::format("on Debian or Ubuntu: {}; on Fedora or RHEL: {}; on SUSE: {}", commands.debian, commands.redhat,
                       commands.suse);
}

Commands install_stap() {
    return install("systemtap", "systemtap", "systemtap");
}

Commands install_staprun() {
    return install("systemtap-runtime", "systemtap-runtime", "systemtap-runtime");
}

Commands install_headers(std::string_view release) {
    const auto redhat = redhat_kernel(release);
    const auto suse = suse_kernel(release);
    auto commands = install(quoted(fmt::format("linux-headers-{}", release)),
                            quoted(fmt::format("{}-devel-{}", redhat.kernel, redhat.version)),
                            quoted(fmt::format("{}-devel={}", suse.kernel, suse.version)));
    if (has_yum_only(release)) commands.redhat.replace(0, 3, "yum");
    return commands;
}

Commands unpack_headers(std::string_view release, std::string_view architecture) {
    const auto debian = architecture == "aarch64" ? "arm64" : architecture == "x86_64" ? "amd64" : architecture;
    const auto common =
        release.ends_with(fmt::format("-{}", debian)) ? release.substr(0, release.size() - debian.size() - 1) : release;
    const auto package = fmt::format("linux-headers-{}", release);
    const auto redhat = redhat_kernel(release);
    const auto suse = suse_kernel(release);
    const auto unpack = [](const std::string& rpm) { return "rpm2cpio " + rpm + "*.rpm | cpio -idm -D /"; };
    return {
        fmt::format("dpkg --add-architecture {0} && apt-get update && apt-get install {1} {2} && apt-get download {3} "
                    "&& dpkg -x {4}_*.deb /",
                    debian, quoted(fmt::format("linux-kbuild-{}", common)),
                    quoted(fmt::format("linux-headers-{}-common", common)),
                    quoted(fmt::format("{}:{}", package, debian)), quoted(package)),
        fmt::format("dnf download --forcearch {} {} && {}", architecture,
                    quoted(fmt::format("{}-devel-{}", redhat.kernel, redhat.version)),
                    unpack(quoted(redhat.kernel + "-devel-"))),
        fmt::format("zypper --pkg-cache-dir . download {} && {}",
                    quoted(fmt::format("{}-devel={}.{}", suse.kernel, suse.version, architecture)),
                    unpack(quoted(suse.kernel + "-devel-")))};
}

Commands install_debuginfo(std::string_view release) {
    const auto redhat = redhat_kernel(release);
    const auto suse = suse_kernel(release);
    auto commands =
        install(quoted(fmt::format("linux-image-{}-{}", release, is_of_ubuntu(release) ? "dbgsym" : "dbg")),
                "--enablerepo='*debug*' " + quoted(fmt::format("{}-debuginfo-{}", redhat.kernel, redhat.version)),
                quoted(fmt::format("{}-debuginfo={}", suse.kernel, suse.version)));
    if (has_yum_only(release)) commands.redhat = "debuginfo-install " + quoted(redhat.kernel + "-" + redhat.version);
    return commands;
}

Commands install_compiler(std::string_view compiler) {
    // The package is named without the architecture.
    const auto name = compiler.substr(std::min(compiler.find("gcc"), compiler.size()));
    return install("make " + quoted(std::string(name)), "make gcc", "make gcc");
}

Commands install_cross_compiler(std::string_view compiler) {
    const auto at = std::min(compiler.find("-gcc"), compiler.size());
    const std::string triplet(compiler.substr(0, at));
    const std::string gcc(compiler.substr(std::min(at + 1, compiler.size())));
    const auto machine = triplet.substr(0, triplet.find('-'));
    return install("make " + quoted(gcc + "-" + triplet), "make " + quoted("gcc-" + triplet),
                   "make " + quoted("cross-" + machine + "-gcc"));
}

Commands install_lab() {
    return install("debootstrap qemu-system-x86 e2fsprogs python3",
                   "debootstrap qemu-system-x86-core e2fsprogs python3", "debootstrap qemu-x86 e2fsprogs python3");
}

}  // namespace stapgen::host
