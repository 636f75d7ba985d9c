// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "symbols/files/elf_file.h"
#include "symbols/files/module_file.h"

namespace stapgen::symbols {

namespace {

/// The state for libdwfl's callbacks; it carries one pointer for us.
struct Module {
    ElfFile elf;
    std::map<std::size_t, std::uint64_t> placed;  ///< of a module: section -> offset from its base
};

int give_elf(Dwfl_Module*, void** user, const char*, Dwarf_Addr, char**, Elf** elf) {
    // One more user of the same: libdwfl ends what it is given.
    *elf = ::elf_begin(-1, ELF_C_READ, static_cast<Module*>(*user)->elf.handle());
    return -1;
}

int give_no_other_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
    return -1;
}

int place_section(Dwfl_Module*, void** user, const char*, Dwarf_Addr, const char*, GElf_Word index, const GElf_Shdr*,
                  Dwarf_Addr* address) {
    // Other sections lie far apart, so that they are never taken for code.
    constexpr std::uint64_t elsewhere = std::uint64_t{1} << 62;
    constexpr std::uint64_t distance = std::uint64_t{1} << 32;
    const auto& placed = static_cast<Module*>(*user)->placed;
    const auto found = placed.find(index);
    *address = found == placed.end() ? elsewhere + index * distance : found->second;
    return 0;
}

constexpr Dwfl_Callbacks callbacks{give_elf, give_no_other_file, place_section, nullptr};

/// Where libdwfl takes the file to begin.
std::uint64_t first_address(const ElfFile& elf) {
    for (const auto& segment : elf.segments()) {
        if (segment.p_type == PT_LOAD) return segment.p_vaddr & -std::max<std::uint64_t>(segment.p_align, 1);
    }
    return 0;
}

struct EndDwfl {
    void operator()(Dwfl* dwfl) const { ::dwfl_end(dwfl); }
};

std::string string_of(const char* text) {
    return text == nullptr ? std::string() : std::string(text);
}

/// DW_AT_call_file and DW_AT_call_line: where the function was inlined.
std::pair<std::string, int> call_site(Dwarf_Die* inlined, Dwarf_Die* unit, std::string_view build) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0, line = 0;
    Dwarf_Files* files = nullptr;
    std::pair<std::string, int> site;
    if (::dwarf_formudata(::dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0) {
        site.second = static_cast<int>(line);
    }
    if (::dwarf_formudata(::dwarf_attr(inlined, DW_AT_call_file, &attribute), &number) == 0 &&
        ::dwarf_getsrcfiles(unit, &files, nullptr) == 0) {
        site.first = source_path(string_of(::dwarf_filesrc(files, number, nullptr, nullptr)), build);
    }
    return site;
}

/// Finds what an address lies in, the outermost first: functions, blocks, and functions inlined there. By hand, as
/// dwarf_getscopes() gives the scopes around an inlined function's definition, not around its place, does not look into
/// namespaces (Rust), and leaks where DWARF is damaged.
struct ScopeSearch {
    Dwarf_Addr address = 0;
    Dwarf_Off last = 0;  ///< what was looked at; each is behind the one before, where damaged ones may go round
    std::vector<Dwarf_Die> scopes;

    bool look_into(Dwarf_Die* parent, int depth = 0) {
        constexpr int deepest = 200;
        Dwarf_Die child;
        if (depth > deepest || ::dwarf_child(parent, &child) != 0) return false;
        while (::dwarf_dieoffset(&child) > last) {
            last = ::dwarf_dieoffset(&child);
            const auto tag = ::dwarf_tag(&child);
            if (tag == DW_TAG_namespace && look_into(&child, depth + 1)) return true;
            const bool holds_code =
                tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
            if (holds_code && ::dwarf_haspc(&child, address) > 0) {
                scopes.push_back(child);
                look_into(&child, depth + 1);
                return true;
            }
            if (::dwarf_siblingof(&child, &child) != 0) return false;
        }
        return false;
    }
};

bool has_lines(const ElfFile& elf) {
    return std::ranges::any_of(elf.sections(), [](const ElfSection& section) {
        return !section.bytes.empty() && (section.name == ".debug_info" || section.name == ".zdebug_info");
    });
}

}  // namespace

struct SourceLines::State {
    Module module;
    std::unique_ptr<Dwfl, EndDwfl> dwfl{};  ///< ends before what it reads
    Dwfl_Module* loaded = nullptr;
};

base::Result<SourceLines> SourceLines::open(const std::filesystem::path& path) {
    const auto origin = path.string();
    const auto no_lines = [&] {
        return base::bad_input(fmt::format("{} has no DWARF, so there are no source lines", origin),
                               "Debian's vmlinux with DWARF is in linux-image-RELEASE-dbg, Fedora's and RHEL's in "
                               "kernel-debuginfo; DEBUGINFOD_URLS can name servers");
    };
    STAPGEN_LET(auto bytes, FileBytes::read(path));
    if (!ElfFile::looks_like_one(bytes.text())) return no_lines();
    STAPGEN_LET(auto elf, ElfFile::open(std::move(bytes), origin));
    if (!has_lines(elf)) return no_lines();

    auto state = std::make_shared<State>(State{Module{std::move(elf), {}}});
    auto& module = state->module;
    for (const auto& part : lay_out_code(module.elf))
        module.placed.emplace(part.section->index, part.offset);
    state->dwfl.reset(::dwfl_begin(&callbacks));
    if (!state->dwfl) return base::failed("libdw cannot be used");
    ::dwfl_report_begin(state->dwfl.get());
    const auto begin = first_address(module.elf);
    state->loaded = ::dwfl_report_module(state->dwfl.get(), "kernel", begin, ~std::uint64_t{0});
    void** user = nullptr;
    if (state->loaded != nullptr)
        ::dwfl_module_info(state->loaded, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (user != nullptr) *user = &module;
    ::dwfl_report_end(state->dwfl.get(), nullptr, nullptr);
    Dwarf_Addr bias = 0;
    if (user == nullptr || ::dwfl_module_getdwarf(state->loaded, &bias) == nullptr) {
        const char* const why = ::dwfl_errmsg(-1);
        return base::bad_input(
            fmt::format("the DWARF of {} cannot be read: {}", origin, why == nullptr ? "it is damaged" : why),
            "the file is damaged: copy it again");
    }
    return SourceLines(std::move(state));
}

std::vector<SourceFrame> SourceLines::at(std::uint64_t address) const {
    std::vector<SourceFrame> frames;
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = ::dwfl_module_addrdie(state_->loaded, address, &bias);
    if (unit == nullptr) return frames;
    ScopeSearch search{address - bias, 0, {}};
    search.look_into(unit);

    Dwarf_Attribute attribute;
    const auto build = string_of(::dwarf_formstring(::dwarf_attr(unit, DW_AT_comp_dir, &attribute)));
    std::pair<std::string, int> place;
    if (auto* const line = ::dwarf_getsrc_die(unit, address - bias)) {
        place.first = source_path(string_of(::dwarf_linesrc(line, nullptr, nullptr)), build);
        ::dwarf_lineno(line, &place.second);
    }
    std::ranges::reverse(search.scopes);
    for (auto& scope : search.scopes) {
        const auto tag = ::dwarf_tag(&scope);
        const bool inlined = tag == DW_TAG_inlined_subroutine;
        if (!inlined && tag != DW_TAG_subprogram) continue;
        frames.push_back({string_of(::dwarf_diename(&scope)), place.first, place.second, inlined});
        if (!inlined) break;
        place = call_site(&scope, unit, build);
    }
    // Assembler, and functions that GCC found to be alike and made one: lines, but no functions.
    if (frames.empty() && place.second != 0) frames.push_back({{}, place.first, place.second, false});
    return frames;
}

std::string source_path(std::string_view file, std::string_view build) {
    const auto folder = std::filesystem::path(build).lexically_normal();
    auto path = std::filesystem::path(file).lexically_normal();
    for (;;) {
        const auto [own, shared] = std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
        // Every absolute one shares the root.
        const auto least = path.is_absolute() ? 2 : 1;
        if (std::distance(path.begin(), own) < least || own == path.end()) return path.string();
        std::filesystem::path rest;
        for (auto part = own; part != path.end(); ++part)
            rest /= *part;
        // Debian's compiler options leave the source folder out, and libdw puts that of the build before.
        path = std::move(rest);
    }
}

}  // namespace stapgen::symbols
