// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace stapgen::bundle {

/// What a file of an archive is by its name.
struct NamedFile {
    /// What printed it, as one types it: "ethtool -S eth0" of sos_commands/networking/ethtool_-S_eth0, "cat
    /// /proc/net/snmp" of proc/net/snmp. Empty: the name does not say it.
    std::string command;
    bool is_log = false;       ///< lines of the kernel's log may be in it
    bool is_settings = false;  ///< "net.core.rmem_max = 212992": sysctl -a
    std::string netns;         ///< the network namespace that it is of, where the name says one
    std::string setting;       ///< the one whose value is all of it: "net.core.rmem_max" of proc/sys/net/core/rmem_max
};

/// By the last part of the path and the folders above it: sos, must-gather, supportconfig, copies of /proc, /sys and
/// /var/log, and what people name their files.
NamedFile named_file(std::string_view path);

}  // namespace stapgen::bundle
