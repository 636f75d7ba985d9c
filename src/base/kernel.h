// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stapgen::base {

/// In bytes. Longer functions were not seen: the longest of 270,000 in the text of Debian's 6.1, 6.12 and 7.2 is
/// do_jit() with 20,288. What lies between that and the next symbol is padding (a megabyte behind srso_alias_safe_ret),
/// or of functions that a table leaves out.
inline constexpr std::uint64_t max_function_length = 0x20000;

/// Whether code can be `offset` bytes behind the symbol `name`. Tools that take the nearest symbol below an address
/// name what no function is that long, and marks of the kernel's linker script (include/asm-generic/vmlinux.lds.h,
/// arch/x86/kernel/vmlinux.lds.S): "__brk_limit+0x36c27a68", "__init_scratch_end+fbdc203".
bool can_be_code(std::string_view name, std::uint64_t offset);

/// KSYM_NAME_LEN of Linux 6.1 and later, without the byte at its end.
inline constexpr std::size_t max_symbol_length = 511;
/// Generous: MODULE_NAME_LEN is 56.
inline constexpr std::size_t max_module_length = 64;

/// How many bytes at the front of `text` can be of a symbol's name: letters, digits, '_', '.' and '$'; 0 where a digit
/// is the first.
std::size_t symbol_length(std::string_view text);

/// "nf_tables", "my-module": at most max_module_length letters, digits, '_' and '-'.
bool is_module_name(std::string_view text);

/// "6.1.0-56-amd64": what `uname -r` may print, as `uname -m` and a host's name: at most 64 letters, digits, '.', '_',
/// '+', '~' and '-', the first a letter or digit. So it is no path, no option and one word.
bool is_uts_name(std::string_view text);

/// A kernel's build-id: at most 128 hexadecimal digits, two for each byte.
bool is_build_id(std::string_view text);

/// The prefix of the names of enum skb_drop_reason; some tools leave it out.
inline constexpr std::string_view drop_reason_prefix = "SKB_DROP_REASON_";

/// False for what stands among the counters of /proc/net/snmp and netstat and is a setting or a state, as
/// "Tcp.CurrEstab" (RFC 1213); `name` is as that one.
bool is_counter(std::string_view name);

/// "TcpExtListenOverflows", as nstat and /proc/net/snmp6 have it, as "TcpExt.ListenOverflows". Nothing if it begins
/// with none of the kernel's groups.
std::optional<std::string> grouped_counter_name(std::string_view name);

/// Whether it is a counter's name without its group: "ListenOverflows".
bool is_counter_name(std::string_view name);

/// A group of /proc/net/snmp, netstat and snmp6: "TcpExt".
bool is_counter_group(std::string_view name);

/// One CPU's line of /proc/net/softnet_stat (softnet_seq_show in net/core/net-procfs.c). The counters have 32 bits, so
/// only the difference of two readings means something.
struct SoftnetLine {
    std::optional<std::uint32_t> cpu;  ///< nothing before 5.10, where only the lines' order says it
    std::vector<std::pair<const char*, std::uint32_t>> counters;  ///< "softnet.dropped"; older kernels have fewer
};
SoftnetLine read_softnet_line(std::span<const std::string_view> words);

/// Whether a counter of that name has 32 bits and begins anew when it is full.
inline bool has_32_bits(std::string_view name) {
    return name.starts_with("softnet.") || name.starts_with("conntrack.");
}

/// By nstat's, ip's and drivers' names: InOctets, rx_bytes.
inline bool counts_bytes(std::string_view counter) {
    return counter.ends_with("Octets") || counter.find("bytes") != std::string_view::npos;
}

/// By how much a counter rose; negative: it fell. A jump by 2^63 or more is taken for a fall: some drivers show -1 for
/// a while.
inline std::int64_t rise_of(std::string_view name, std::uint64_t before, std::uint64_t now) {
    return has_32_bits(name) ? static_cast<std::uint32_t>(now - before) : static_cast<std::int64_t>(now - before);
}

/// A line of /proc/modules.
struct LoadedModule {
    std::string name;
    std::optional<std::uint64_t> base;  ///< nothing where the kernel hides it
    std::uint64_t size = 0;             ///< bytes
};

/// A kernel as it ran, so that its addresses can be understood on another machine. What is not known is empty.
struct KernelIdentity {
    std::string release;
    std::string build_id;  ///< hexadecimal
    std::string architecture{};
    std::optional<std::uint64_t> text, stext, etext;  ///< where its code was; nothing where that is hidden
    std::vector<LoadedModule> modules{};
};

/// `NAME SIZE REFERENCES USERS STATE 0xBASE [TAINTS]`; if it is not that, the word that is wrong.
tl::expected<LoadedModule, std::string_view> parse_loaded_module(std::string_view line);

/// The text of /proc/modules. Error (bad_input), with line and column: another line. `origin` is the name of the file,
/// for messages.
Result<std::vector<LoadedModule>> parse_loaded_modules(std::string_view text, std::string_view origin);

}  // namespace stapgen::base
