#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

/// What the names of enum skb_drop_reason begin with, and tools leave out or not.
inline constexpr std::string_view drop_reason_prefix = "SKB_DROP_REASON_";

}  // namespace stapgen::base
