#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "symbols/files/kernel_image.h"
#include "symbols/files/module_file.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// A symbol table and the file it is from.
struct TableFile {
    SymbolTable table;
    std::filesystem::path file;
};

/// The files that names are taken from, by what is in them.
struct SourceFiles {
    std::optional<TableFile> map;   ///< addresses of the link: System.map, kallsyms of a kernel that was not moved
    std::optional<TableFile> boot;  ///< addresses of one boot: a copy of /proc/kallsyms with modules, or moved by KASLR
    std::optional<KernelImage> image;
    std::filesystem::path image_file;
    std::vector<ModuleFile> modules;
    std::vector<std::filesystem::path> module_folders;
};

/// Reads them all. Errors (bad_input), each with its remedy: one cannot be read, or is of no kind that is known; two
/// are of the same kind.
base::Result<SourceFiles> read_source_files(const std::vector<std::filesystem::path>& files);

}  // namespace stapgen::symbols
