#pragma once

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

}  // namespace stapgen::base
