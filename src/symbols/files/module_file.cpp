#include "symbols/files/module_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include "symbols/files/elf_file.h"
#include "symbols/files/module_layout.h"
#include "symbols/files/nm_text.h"

namespace stapgen::symbols {

namespace {

constexpr std::string_view where_modules_are = "modules' files are below /usr/lib/modules/RELEASE (.ko, .ko.xz, ...)";

/// "nf_tables" for nf-tables.ko.xz: as the kernel calls it. Empty: no module's file.
std::string module_name(std::string_view file) {
    constexpr std::array<std::string_view, 5> endings{".ko", ".ko.gz", ".ko.xz", ".ko.zst", ".ko.debug"};
    for (const auto ending : endings) {
        if (!file.ends_with(ending)) continue;
        std::string name(file.substr(0, file.size() - ending.size()));
        std::ranges::replace(name, '-', '_');
        return name;
    }
    return {};
}

std::vector<ModuleFile::Function> functions_of(const ElfFile& elf, const std::vector<PlacedSection>& placed) {
    std::vector<ModuleFile::Function> functions;
    elf.each_symbol([&](std::string_view name, const GElf_Sym& symbol, const ElfSection* section) {
        const auto where = std::ranges::find(placed, section, &PlacedSection::section);
        const auto type = GELF_ST_TYPE(symbol.st_info);
        if (where == placed.end() || type == STT_SECTION || type == STT_FILE) return;
        if (symbol.st_value >= where->section->header.sh_size) return;
        functions.push_back({where->offset + symbol.st_value, nm_type(symbol, section), std::string(name)});
    });
    // Of several at one address the kernel takes the first in the order of the file.
    std::ranges::stable_sort(functions, {}, &ModuleFile::Function::offset);
    return functions;
}

}  // namespace

base::Result<ModuleFile> read_module_file(const std::filesystem::path& path) {
    return FileBytes::read(path).and_then([&](FileBytes&& bytes) { return read_module_file(std::move(bytes), path); });
}

base::Result<ModuleFile> read_module_file(FileBytes bytes, const std::filesystem::path& path) {
    if (!ElfFile::looks_like_one(bytes.text())) {
        return base::bad_input(fmt::format("{} is no kernel module", path.string()), std::string(where_modules_are));
    }
    const auto elf = ElfFile::open(std::move(bytes), path.string());
    if (!elf) return tl::make_unexpected(elf.error());
    if (!is_module(*elf)) {
        return base::bad_input(fmt::format("{} is an ELF file, but no kernel module", path.string()),
                               std::string(where_modules_are));
    }
    const auto info = module_info(*elf);
    const auto placed = lay_out_code(*elf);
    ModuleFile module;
    module.name = info.name.empty() ? module_name(path.filename().string()) : info.name;
    module.release = info.vermagic.substr(0, info.vermagic.find(' '));
    module.build_id = elf->build_id();
    module.functions = functions_of(*elf, placed);
    if (!placed.empty()) module.text_size = placed.back().offset + placed.back().section->header.sh_size;
    return module;
}

std::filesystem::path find_module_file(const std::filesystem::path& folder, std::string_view name) {
    namespace fs = std::filesystem;
    std::string wanted(name);
    std::ranges::replace(wanted, '-', '_');
    fs::path found;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error), end;
         !error && entry != end; entry.increment(error)) {
        if (module_name(entry->path().filename().string()) != wanted || !entry->is_regular_file(error)) continue;
        // The same at every call, whatever the order of the folder.
        if (found.empty() || entry->path() < found) found = entry->path();
    }
    return found;
}

}  // namespace stapgen::symbols
