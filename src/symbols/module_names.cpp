#include "symbols/module_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace stapgen::symbols {

namespace {

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

std::optional<Symbol> ModuleNames::find(std::uint64_t address, AddressKind kind) {
    const auto looked_up = kind == AddressKind::return_address ? address - 1 : address;
    const auto* module = nearest(looked_up);
    if (module == nullptr || !is_inside(*module, looked_up)) return std::nullopt;
    auto known = tables_.find(module->name);
    if (known == tables_.end()) known = tables_.emplace(module->name, read(*module)).first;
    return known->second ? known->second->find(address, {kind, 0}) : std::nullopt;
}

std::optional<SymbolTable> ModuleNames::read(const base::LoadedModule& module) {
    const auto given = std::ranges::find(files_, module.name, &ModuleFile::name);
    std::optional<ModuleFile> file;
    if (given != files_.end()) file = *given;
    for (auto folder = folders_.begin(); !file && folder != folders_.end(); ++folder) {
        const auto path = find_module_file(*folder, module.name);
        if (path.empty()) continue;
        auto read = read_module_file(path);
        if (read) {
            file = *std::move(read);
        } else {
            notes_.push_back(read.error().what);
        }
    }
    if (!file) return std::nullopt;
    if (!release_.empty() && file->release != release_) {
        notes_.push_back(fmt::format("the file of module {} is for Linux {}, not {}: it is not used", module.name,
                                     file->release, release_));
        return std::nullopt;
    }
    auto table = SymbolTable::parse(table_text(*file, *module.base), module.name);
    if (!table) return std::nullopt;
    return *std::move(table);
}

}  // namespace stapgen::symbols
