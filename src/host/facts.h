// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kernel.h"
#include "host/system.h"

/// Facts about this machine and this process, each in one short file of /proc or /sys.
namespace stapgen::host {

/// For those who open these themselves: the kernel's symbols, its modules, its type information, and its names of drop
/// reasons (tracefs is mounted of its own since Linux 4.1, and below debugfs).
inline constexpr auto kallsyms_file = "/proc/kallsyms", modules_file = "/proc/modules",
                      btf_file = "/sys/kernel/btf/vmlinux";
inline constexpr std::array kfree_skb_format_files{"/sys/kernel/tracing/events/skb/kfree_skb/format",
                                                   "/sys/kernel/debug/tracing/events/skb/kfree_skb/format"};

/// The value of a line of /proc/meminfo ("MemFree"), in MiB. Nothing if there is none of this name; 0 if it has no
/// number.
std::optional<std::int64_t> memory_mib(const System& system, std::string_view name);

struct NetworkDevice {
    std::string name, state;  ///< "eth0"; "up", "down", "unknown"
};
/// Devices of the network namespace in which /sys was mounted.
std::vector<NetworkDevice> network_devices(const System& system);

/// Whether this process may have a mount namespace: as root, or in a user namespace of its own. In some containers root
/// may not, and nothing but trying shows it.
bool may_mount(const System& system);

/// The words of the command that this process is.
std::vector<std::string> own_command(const System& system);
/// The file of this program; empty where that is not known.
std::filesystem::path own_program();

/// The modules that are loaded now; none where that cannot be read.
std::vector<base::LoadedModule> read_loaded_modules(const System& system);
bool is_loaded(const System& system, std::string_view module);

/// The value of CONFIG_`option` in the text of a file of kernel options, without its quotes; empty if it is not set.
std::string kernel_option(std::string_view config, std::string_view option);

/// Modules of SystemTap in the kernel that nobody reads: their staprun was killed together with whoever started it, or
/// it was detached (staprun -L). Their probes cost time anyway.
std::vector<std::string> left_modules(const System& system);
/// A sentence on each of them, with the command that removes it.
std::vector<std::string> left_module_warnings(const System& system);

/// Empty where it is not known.
std::string host_name(const System& system);

/// This machine by a hash of /etc/machine-id, as sd_id128_get_machine_app_specific() makes it: the id itself is to stay
/// on the machine. 32 hexadecimal digits; empty where there is none.
std::string machine_of(const System& system);

/// The running kernel's, by /sys/kernel/notes; empty where that cannot be read.
std::string running_build_id(const System& system);

/// The running kernel, but for its modules. What cannot be read is empty.
base::KernelIdentity read_kernel_identity(const System& system);

/// How far other clocks are ahead of CLOCK_MONOTONIC, ns. Slewing (NTP) leaves both as they are.
struct ClockOffsets {
    std::int64_t realtime_ns = 0;  ///< changes where the wall clock is set, and by every suspend
    std::int64_t boottime_ns = 0;  ///< changes by every suspend
};
ClockOffsets read_clock_offsets();

/// Changes of the clocks between two moments; 0 where nothing did, or less than 20 ms.
struct ClockChange {
    std::int64_t set_ns = 0;        ///< the wall clock was set forward by so much; negative: back
    std::int64_t suspended_ns = 0;  ///< the machine was suspended for so long
};
ClockChange change_of(const ClockOffsets& before, const ClockOffsets& after);

/// The counter that the kernel's get_cycles() reads, and so SystemTap: the TSC, on arm64 the virtual counter. Nothing
/// on other machines.
std::optional<std::uint64_t> read_cycles();

}  // namespace stapgen::host
