#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "symbols/drop_reasons.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// A symbol table in a file: System.map or a copy of /proc/kallsyms, packed or not.
base::Result<SymbolTable> read_symbol_file(const std::filesystem::path& path);

/// The symbols of the running kernel, modules and BPF programs of this moment included. Root is needed for
/// their addresses. Every error is cannot_here.
base::Result<SymbolTable> read_live_symbols(const std::filesystem::path& path);

/// The drop reasons of the running kernel: from the first of `formats` that can be read, for which root is needed;
/// where there is none, or it lists none, from its type information. Every error is cannot_here.
base::Result<DropReasons> read_live_drop_reasons(const std::vector<std::filesystem::path>& formats,
                                                 const std::filesystem::path& btf);

}  // namespace stapgen::symbols
