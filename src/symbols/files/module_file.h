#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbols/files/file_bytes.h"

namespace stapgen::symbols {

/// What a module's file (.ko, .ko.gz, .ko.xz, .ko.zst, or its .ko.debug) says of where its functions will be.
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
    std::uint64_t text_size = 0;      ///< bytes of code from the base
};

/// Errors (bad_input): it cannot be read; it is no module.
base::Result<ModuleFile> read_module_file(const std::filesystem::path& path);
/// The same of what has been read from `path`.
base::Result<ModuleFile> read_module_file(FileBytes bytes, const std::filesystem::path& path);

/// The file of the module `name` below `folder` (/usr/lib/modules/RELEASE, or any folder with such files), whatever its
/// packing, '-' and '_' taken for the same; empty if there is none.
std::filesystem::path find_module_file(const std::filesystem::path& folder, std::string_view name);

}  // namespace stapgen::symbols
