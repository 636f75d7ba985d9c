// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stapgen::decode {

/// Whether a shell puts something in its place: "$d".
bool has_variable(std::string_view word);

/// Where a command runs: on a host by ssh, and in what there.
struct ShellPlace {
    std::string host{};    ///< "n2"; empty: on the one whose shell it is
    std::string inside{};  ///< "netns blue", "container web", "netns blue in container web"; empty: in nothing
    bool operator==(const ShellPlace&) const = default;
    /// In another one.
    [[nodiscard]] ShellPlace within(const ShellPlace& outer) const;
};

/// One command of a command line.
struct ShellCommand {
    std::vector<std::string> words{};  ///< "ethtool", "-S", "eth0" of "sudo /sbin/ethtool -S eth0 | grep drop"
    std::string text{};                ///< these, and what its output goes through: "| grep drop"
    ShellPlace place{};
    bool repeats = false;  ///< it is in a loop whose number of rounds is not known

    /// A shell that is entered: "docker exec -it web bash", "ssh n2".
    [[nodiscard]] bool is_shell() const;
    /// Whether a variable is in it whose value is not known: "$d".
    [[nodiscard]] bool varies() const;
};

/// The commands of a command line in the order in which they run, those of "for d in eth0 eth1; do ... $d; done" once
/// for each word. What runs a command (sudo, watch, ssh, ip netns exec, kubectl exec) is off. `is_prompted`: the line
/// is behind a shell's prompt; else it is none if a program in it is not known here. Empty: it is none.
std::vector<ShellCommand> commands_of(std::string_view line, bool is_prompted);

}  // namespace stapgen::decode
