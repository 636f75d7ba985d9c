// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/module_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace stapgen::symbols {

namespace {

constexpr std::string_view where_modules_are = "module files are below /usr/lib/modules/RELEASE (.ko, .ko.xz, ...)";

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

/// Kernels that cannot unload modules do not keep what is for their end.
bool is_kept(std::string_view section, bool can_unload) {
    if (section.starts_with(".exit")) return can_unload;
    return !section.starts_with(".init");
}

/// module_frob_arch_sections(), arch/arm64/kernel/module-plts.c.
bool is_sized_at_load(std::string_view section, unsigned machine) {
    return machine == EM_AARCH64 && (section == ".plt" || section == ".text.ftrace_trampoline");
}

/// An entry of a module's .modinfo: NUL-separated entries "key=value". Empty if it has none of this key: "name" before
/// Linux 4.13, and both in a .ko.debug.
std::string module_info(const ElfFile& elf, std::string_view key) {
    std::string value;
    const auto* const section = elf.section(".modinfo");
    if (section == nullptr) return value;
    for (const auto entry : base::split({section->bytes.data(), section->bytes.size()}, '\0')) {
        if (entry.starts_with(key) && entry.substr(key.size()).starts_with('=')) value = entry.substr(key.size() + 1);
    }
    return value;
}

/// Whether it is a kernel module, or the DWARF of one.
bool is_module(const ElfFile& elf) {
    return elf.header().e_type == ET_REL && elf.section(".modinfo") != nullptr;
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
    // The kernel takes the first of several at one address, in the order of the file.
    std::ranges::stable_sort(functions, {}, &ModuleFile::Function::offset);
    return functions;
}

bool is_inside(const base::LoadedModule& module, std::uint64_t address) {
    return address - *module.base < module.size;
}

std::string table_text(const ModuleFile& file, std::uint64_t base) {
    std::string text;
    for (const auto& [offset, type, name] : file.functions)
        text += fmt::format("{:016x} {} {} [{}]\n", base + offset, type, name, file.name);
    return text;
}

}  // namespace

std::vector<PlacedSection> lay_out_code(const ElfFile& elf) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 30;
    const auto vermagic = module_info(elf, "vermagic");
    const bool can_unload = vermagic.empty() || vermagic.find(" mod_unload") != std::string::npos;
    std::vector<PlacedSection> placed;
    std::uint64_t end = 0;
    for (const auto& section : elf.sections()) {
        const auto& header = section.header;
        constexpr std::uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
        if ((header.sh_flags & code) != code || !is_kept(section.name, can_unload)) continue;
        const auto alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
        if (is_sized_at_load(section.name, elf.header().e_machine) || !std::has_single_bit(alignment) ||
            alignment > largest || header.sh_size > largest || end > largest) {
            break;
        }
        const auto begin = (end + alignment - 1) / alignment * alignment;
        placed.push_back({&section, begin});
        end = begin + header.sh_size;
    }
    return placed;
}

base::Result<ModuleFile> read_module_file(const std::filesystem::path& path) {
    return FileBytes::read(path).and_then([&](FileBytes&& bytes) { return read_module_file(std::move(bytes), path); });
}

base::Result<ModuleFile> read_module_file(FileBytes bytes, const std::filesystem::path& path) {
    if (!ElfFile::looks_like_one(bytes.text())) {
        return base::bad_input(fmt::format("{} is not a kernel module", path.string()), std::string(where_modules_are));
    }
    STAPGEN_LET(const auto elf, ElfFile::open(std::move(bytes), path.string()));
    if (!is_module(elf)) {
        return base::bad_input(fmt::format("{} is an ELF file, but not a kernel module", path.string()),
                               std::string(where_modules_are));
    }
    ModuleFile module;
    module.name = module_info(elf, "name");
    if (module.name.empty()) module.name = module_name(path.filename().string());
    module.release = module_info(elf, "vermagic");
    module.release.resize(std::min(module.release.find(' '), module.release.size()));
    module.build_id = elf.build_id();
    module.functions = functions_of(elf, lay_out_code(elf));
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

ModuleNames::ModuleNames(std::vector<base::LoadedModule> loaded, std::vector<ModuleFile> files,
                         std::vector<std::filesystem::path> folders, std::string release)
    : loaded_(std::move(loaded)), files_(std::move(files)), folders_(std::move(folders)), release_(std::move(release)) {
    std::erase_if(loaded_, [](const base::LoadedModule& module) { return !module.base; });
    std::ranges::sort(loaded_, {}, [](const base::LoadedModule& module) { return *module.base; });
}

const base::LoadedModule* ModuleNames::nearest(std::uint64_t address) const {
    constexpr std::uint64_t near = 1U << 20U;
    const auto after = std::ranges::upper_bound(loaded_, address, {}, [](const auto& module) { return *module.base; });
    const base::LoadedModule* best = nullptr;
    std::uint64_t best_distance = near;
    if (after != loaded_.begin()) {
        const auto& before = *(after - 1);
        if (is_inside(before, address)) return &before;
        const auto distance = address - (*before.base + before.size);
        if (distance < best_distance) best = &before, best_distance = distance;
    }
    if (after != loaded_.end() && *after->base - address < best_distance) best = &*after;
    return best;
}

std::optional<Symbol> ModuleNames::find(std::uint64_t address, AddressKind kind) const {
    const auto looked_up = kind == AddressKind::return_address ? address - 1 : address;
    const auto* module = nearest(looked_up);
    if (module == nullptr || !is_inside(*module, looked_up)) return std::nullopt;
    const auto [table, is_new] = tables_.try_emplace(module->name);
    auto& symbols = table->second;
    if (is_new) symbols = read(*module);
    return symbols ? symbols->find(address, {kind, 0}) : std::nullopt;
}

std::optional<SymbolTable> ModuleNames::read(const base::LoadedModule& module) const {
    const auto given = std::ranges::find(files_, module.name, &ModuleFile::name);
    std::optional<ModuleFile> file;
    if (given != files_.end()) file = *given;
    for (auto folder = folders_.begin(); !file && folder != folders_.end(); ++folder) {
        const auto path = find_module_file(*folder, module.name);
        if (path.empty()) continue;
        if (auto read = read_module_file(path)) file = *std::move(read);
    }
    if (!file || (!release_.empty() && file->release != release_)) return std::nullopt;
    auto table = SymbolTable::parse(table_text(*file, *module.base), module.name);
    if (!table) return std::nullopt;
    return *std::move(table);
}

}  // namespace stapgen::symbols
