// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace stapgen::bundle {

/// A file of an archive, by its name.
struct NamedFile {
    /// The command that printed it, as one types it: "ethtool -S eth0" of sos_commands/networking/ethtool_-S_eth0, "cat
    /// /proc/net/snmp" of proc/net/snmp. Empty: the name does not say it.
    std::string command;
    bool is_log = false;                          ///< lines of the kernel's log may be in it
    bool is_settings = false;                     ///< "net.core.rmem_max = 212992": sysctl -a
    bool is_symbols = false, is_modules = false;  ///< System.map or a copy of /proc/kallsyms; of /proc/modules
    std::string netns;                            ///< the network namespace that it is of, where the name says one
    bool is_of_none = false;                      ///< that name is longer than one can be: it is not read
    std::string setting;  ///< the one whose value is all of it: "net.core.rmem_max" of proc/sys/net/core/rmem_max

    [[nodiscard]] bool is_known() const {
        return is_log || is_settings || is_symbols || is_modules || !setting.empty() || !command.empty();
    }
};

/// By the last part of the path and the folders above it: sos, must-gather, supportconfig, copies of /proc, /sys and
/// /var/log, and what people name their files.
NamedFile named_file(std::string_view path);

/// A section of supportconfig's, by its title: a command, or a file's path with what was left out of it:
/// "/sbin/ip netns exec left /sbin/ip -stats link", "/var/log/messages - Last 500 Lines".
NamedFile named_section(std::string_view title);

}  // namespace stapgen::bundle
