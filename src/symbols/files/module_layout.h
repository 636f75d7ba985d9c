#pragma once

#include <cstdint>
#include <vector>

#include "symbols/files/elf_file.h"

namespace stapgen::symbols {

/// What .modinfo of a module says: NUL-separated key=value entries.
struct ModuleInfo {
    std::string name;      ///< empty before Linux 4.13, and in a .ko.debug
    std::string vermagic;  ///< "6.1.0-56-amd64 SMP preempt mod_unload modversions "; empty in a .ko.debug
};
ModuleInfo module_info(const ElfFile& elf);

/// Whether it is a kernel module, or the DWARF of one.
bool is_module(const ElfFile& elf);

struct PlacedSection {
    const ElfSection* section = nullptr;
    std::uint64_t offset = 0;  ///< bytes from the module's base in /proc/modules
};

/// Where the kernel puts a module's code: the executable sections in the order of the file, each aligned as it asks
/// for, from the base on; those of the module's start are elsewhere (__layout_sections(), kernel/module/main.c, and
/// layout_sections(), kernel/module.c, before Linux 6.4). Ends before the first section whose size the kernel works out
/// as it loads (.plt of arm64), or whose size or alignment is nonsense.
std::vector<PlacedSection> lay_out_code(const ElfFile& elf);

}  // namespace stapgen::symbols
