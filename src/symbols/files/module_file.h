// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/kernel.h"
#include "base/result.h"
#include "symbols/files/elf_file.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// Layout of a module's functions, from its file (.ko, .ko.gz, .ko.xz, .ko.zst, or its .ko.debug).
struct ModuleFile {
    std::string name;      ///< as /proc/modules has it: '_' for '-'
    std::string release;   ///< of the kernel it was built for, from vermagic
    std::string build_id;  ///< hexadecimal
    /// Its functions as `ADDRESS TYPE NAME [MODULE]` lines, the address counted from the base that /proc/modules gives:
    /// sections of code are laid out as the kernel's module loader does (layout_sections(), kernel/module.c), init
    /// sections left out. For SymbolTable::parse() with the base added.
    struct Function {
        std::uint64_t offset = 0;  ///< from the module's base
        char type = 't';
        std::string name;
    };
    std::vector<Function> functions;  ///< ascending
};

/// Errors (bad_input): it cannot be read; it is no module.
base::Result<ModuleFile> read_module_file(const std::filesystem::path& path);
/// The same of what has been read from `path`.
base::Result<ModuleFile> read_module_file(FileBytes bytes, const std::filesystem::path& path);

/// The file of the module `name` below `folder` (/usr/lib/modules/RELEASE, or any folder with such files), whatever its
/// packing, '-' and '_' taken for the same; empty if there is none.
std::filesystem::path find_module_file(const std::filesystem::path& folder, std::string_view name);

struct PlacedSection {
    const ElfSection* section = nullptr;
    std::uint64_t offset = 0;  ///< bytes from the module's base in /proc/modules
};

/// Where the kernel puts a module's code: the executable sections in the order of the file, each aligned as it asks
/// for, from the base on; those of the module's start are elsewhere (__layout_sections(), kernel/module/main.c, and
/// layout_sections(), kernel/module.c, before Linux 6.4). Ends before the first section whose size the kernel works out
/// as it loads (.plt of arm64), or whose size or alignment is nonsense.
std::vector<PlacedSection> lay_out_code(const ElfFile& elf);

/// The code of modules, where a list of modules says they were. A module's file is read when an address first needs it.
class ModuleNames {
  public:
    ModuleNames() = default;
    /// Files of modules for another release than `release` are not used, unless that is empty.
    ModuleNames(std::vector<base::LoadedModule> loaded, std::vector<ModuleFile> files,
                std::vector<std::filesystem::path> folders, std::string release);

    /// Nothing where no module was, or its file is not there. The views live as long as this.
    [[nodiscard]] std::optional<Symbol> find(std::uint64_t address, AddressKind kind) const;
    /// The module that the address lies in, else the nearest one within 1 MiB.
    [[nodiscard]] const base::LoadedModule* nearest(std::uint64_t address) const;

  private:
    [[nodiscard]] std::optional<SymbolTable> read(const base::LoadedModule& module) const;

    std::vector<base::LoadedModule> loaded_;  ///< with a base, ascending
    std::vector<ModuleFile> files_;
    std::vector<std::filesystem::path> folders_;
    std::string release_;
    mutable std::map<std::string, std::optional<SymbolTable>> tables_;  ///< by module, of those that were needed
};

}  // namespace stapgen::symbols
