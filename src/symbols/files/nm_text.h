#pragma once

#include <string>

#include "symbols/files/elf_file.h"

namespace stapgen::symbols {

/// The letter of nm(1) for a symbol, as far as code, weak, absolute and data are told apart: T, W, A, D, R, B, and in
/// lower case the local ones. `section` is null for an absolute one.
char nm_type(const GElf_Sym& symbol, const ElfSection* section);

/// The symbols of a file as `LC_ALL=C nm -n -S` prints them; empty if it has none.
std::string nm_text(const ElfFile& elf);

}  // namespace stapgen::symbols
