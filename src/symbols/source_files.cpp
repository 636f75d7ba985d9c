// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/source_files.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "symbols/files/elf_file.h"
#include "symbols/files/symbol_text.h"
#include "symbols/kaslr/drop_functions.h"
#include "symbols/kaslr/kaslr_offset.h"

namespace stapgen::symbols {

namespace {

bool is_relocatable(std::string_view beginning) {
    if (!beginning.starts_with(ELFMAG) || beginning.size() < sizeof(Elf64_Ehdr)) return false;
    // e_type is at the same place in both sizes of ELF.
    std::uint16_t type = 0;
    std::memcpy(&type, beginning.data() + offsetof(Elf64_Ehdr, e_type), sizeof type);
    return type == ET_REL;
}

base::Result<void> keep_one(std::optional<TableFile>& kept, TableFile&& found) {
    if (kept) {
        return base::bad_input(
            fmt::format("{} and {} are both symbol tables of the same kind", kept->file.string(), found.file.string()),
            "give the one of the kernel that made the addresses");
    }
    kept = std::move(found);
    return {};
}

base::Result<void> add(SourceFiles& files, const std::filesystem::path& file) {
    if (std::error_code ignored; std::filesystem::is_directory(file, ignored)) {
        files.module_folders.push_back(file);
        return {};
    }
    auto bytes = FileBytes::read(file);
    STAPGEN_TRY(bytes);
    if (is_relocatable(bytes->text())) {
        return read_module_file(*std::move(bytes), file).map([&](ModuleFile&& module) {
            files.modules.push_back(std::move(module));
        });
    }
    if (KernelImage::looks_like_one(bytes->text())) {
        if (files.image) {
            return base::bad_input(fmt::format("{} and {} are both kernels", files.image_file.string(), file.string()),
                                   "give the one that made the addresses");
        }
        STAPGEN_LET(auto image, KernelImage::read(*std::move(bytes), file.string()));
        files.image = std::move(image);
        files.image_file = file;
        return {};
    }
    if (is_objdump_text(bytes->text())) *bytes = FileBytes(nm_of_objdump(bytes->text()));
    STAPGEN_LET(auto table, SymbolTable::parse(*std::move(bytes), file.string()));
    auto& place = table.has_modules() || is_moved(table) ? files.boot : files.map;
    return keep_one(place, {std::move(table), file});
}

/// One or two may have been renamed or put in line; of a table without its static functions six are missing.
constexpr std::size_t max_missing = 2;
constexpr std::size_t few_functions = 32;
/// In bytes. No kernel with IPv4 has less text.
constexpr std::uint64_t smallest_text = 1U << 20U;

constexpr const char* hint = "give the whole System.map, or a whole copy of /proc/kallsyms";

}  // namespace

base::Result<SourceFiles> read_source_files(const std::vector<std::filesystem::path>& files) {
    SourceFiles read;
    for (const auto& file : files) {
        STAPGEN_TRY(add(read, file));
    }
    if (!read.map && read.image) {
        if (auto text = read.image->symbol_text(); !text.empty()) {
            STAPGEN_LET(auto table, SymbolTable::parse(std::move(text), read.image_file.string()));
            read.map = TableFile{std::move(table), read.image_file};
        }
    }
    return read;
}

base::Result<void> expect_whole(const SymbolTable& table, std::string_view origin) {
    std::bitset<of_each_kernel.size()> there;
    std::size_t functions = 0;
    std::bitset<in_each_kernel.size()> words;
    std::uint64_t first = 0, last = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto [start, symbol] = table.function(i);
        if (symbol.module) continue;
        if (++functions == 1) first = start;
        last = start;
        const auto name = source_name(symbol.name);
        const auto found = std::ranges::lower_bound(of_each_kernel, name);
        if (found != of_each_kernel.end() && *found == name) {
            there.set(static_cast<std::size_t>(found - of_each_kernel.begin()));
        }
        for (std::size_t word = 0; word < words.size(); ++word)
            words[word] = words[word] || name.find(in_each_kernel[word]) != std::string_view::npos;
    }
    if (functions < few_functions || last - first < smallest_text) return {};
    const auto refuse = [&](const std::string& lacking) {
        return base::bad_input(
            fmt::format("{} is an excerpt: it lacks {}, so names from it may be those of neighbours", origin, lacking),
            hint);
    };
    if (const auto missing = there.size() - there.count(); missing > max_missing) {
        const auto example = std::ranges::find_if(of_each_kernel, [&, i = 0U](auto) mutable { return !there[i++]; });
        return refuse(
            fmt::format("{} of {} functions that every kernel has, such as {}()", missing, there.size(), *example));
    }
    for (std::size_t word = 0; word < words.size(); ++word)
        if (!words[word]) return refuse(fmt::format("all functions with {} in their name", in_each_kernel[word]));
    return {};
}

}  // namespace stapgen::symbols
