// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace stapgen::host {

/// Whose packages a remedy should name.
enum class Distribution { debian, redhat, suse, other };

/// By ID and ID_LIKE in the text of /etc/os-release.
Distribution distribution_of(std::string_view os_release);

/// Its ID alone: "debian". Empty if there is none.
std::string id_of(std::string_view os_release);

/// By how its kernels' releases are named: "5.14.0-427.el9.x86_64", "6.8.0-41-generic", "6.1.0-56-amd64",
/// "5.14.21-150400.24.63-default".
Distribution distribution_of_release(std::string_view release);

/// A command for each family of distributions: Debian and Ubuntu, Fedora and RHEL, openSUSE and SLES.
struct Commands {
    std::string debian{}, redhat{}, suse{};

    [[nodiscard]] bool empty() const { return debian.empty(); }
    friend bool operator==(const Commands&, const Commands&) = default;
};
/// One that is the same everywhere.
Commands everywhere(const std::string& command);

/// The one for this family; where that is not known all of them, each with its families' names.
std::string command_here(const Commands& commands, Distribution distribution);

Commands install_stap();
Commands install_staprun();
/// Commands that install what modules for this kernel are built with.
Commands install_headers(std::string_view release);
Commands install_debuginfo(std::string_view release);
/// The same for a kernel of another architecture ("aarch64"). They are unpacked: the package depends on programs of
/// that architecture.
Commands unpack_headers(std::string_view release, std::string_view architecture);
/// make and this compiler: "gcc", "gcc-12", "x86_64-linux-gnu-gcc-14".
Commands install_compiler(std::string_view compiler);
/// make and this one for another architecture: "aarch64-linux-gnu-gcc-14".
Commands install_cross_compiler(std::string_view compiler);
/// Commands that install what tests/lab makes virtual machines with.
Commands install_lab();

}  // namespace stapgen::host
