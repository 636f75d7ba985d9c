// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::symbols {

/// Where kernels have their addresses, but for those of s390x.
inline constexpr std::uint64_t upper_half = std::uint64_t{1} << 63;

/// One line of a symbol table, its name given as a place in the text it was read from.
struct SymbolLine {
    std::uint64_t address;
    std::uint32_t size;  ///< bytes; 0: unknown
    std::uint32_t name_begin;
    std::uint32_t module;  ///< index into SymbolText::modules; 0 is the kernel itself
    std::uint16_t name_size;
    char type;   ///< as nm(1) has it: T t W w i are code, the rest is not
    bool noise;  ///< the name is a mark of an assembler or compiler in the middle of a function: $d, .L1, __typeid__*
};

struct SymbolText {
    std::vector<SymbolLine> lines;  ///< in the order of the text
    std::vector<std::string_view> modules{{}};
    bool eight_digits = true;  ///< every address is written in 8: a 32-bit kernel
};

/// Reads `ADDRESS TYPE NAME`, `ADDRESS SIZE TYPE NAME` and `ADDRESS TYPE NAME [MODULE]` lines: what `nm -n vmlinux`
/// makes (System.map), what `nm -S` makes and what /proc/kallsyms prints. Addresses and sizes are 8 to 16 hex digits,
/// with or without 0x. CRLF and empty lines are fine; any other line is an error (bad_input) that gives its line and
/// column. So are an empty text, Debian's one-line stub
/// and a table whose addresses are all zero, each with its remedy.
/// `origin` is the name of the file, for messages (and the kernel release in it, for Debian's stub).
base::Result<SymbolText> parse_symbol_text(std::string_view text, std::string_view origin);

/// The kernel release that a file's name ends in (System.map-6.1.0-56-amd64, vmlinuz-...) or that its folder is named
/// after (/usr/lib/modules/RELEASE/System.map); empty if neither.
std::string release_in_name(const std::filesystem::path& file);

/// Whether a text is what `objdump -t` prints, by its heading.
bool is_objdump_text(std::string_view text);

/// The same symbols as `nm -S` prints them. Lines that name files, sections and what is not defined are left out; what
/// has not the form of a symbol, too.
std::string nm_of_objdump(std::string_view text);

}  // namespace stapgen::symbols
