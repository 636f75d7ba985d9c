#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/loaded_modules.h"
#include "symbols/files/module_file.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// The code of modules, where a list of modules says they were. A module's file is read when an address first needs it.
class ModuleNames {
  public:
    /// Files of modules for another release than `release` are not used, unless that is empty.
    ModuleNames(std::vector<base::LoadedModule> loaded, std::vector<ModuleFile> files,
                std::vector<std::filesystem::path> folders, std::string release);

    /// Nothing where no module was, or its file is not there. The views live as long as this.
    std::optional<Symbol> find(std::uint64_t address, AddressKind kind);
    /// The module that the address lies in, else the nearest one within 1 MiB.
    [[nodiscard]] const base::LoadedModule* nearest(std::uint64_t address) const;
    /// Why files were not used: sentences.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  private:
    std::optional<SymbolTable> read(const base::LoadedModule& module);

    std::vector<base::LoadedModule> loaded_;  ///< with a base, ascending
    std::vector<ModuleFile> files_;
    std::vector<std::filesystem::path> folders_;
    std::string release_;
    std::map<std::string, std::optional<SymbolTable>> tables_;
    std::vector<std::string> notes_;
};

}  // namespace stapgen::symbols
