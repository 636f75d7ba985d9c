#include "symbols/files/module_layout.h"

#include <bit>
#include <string_view>

#include "base/text.h"

namespace stapgen::symbols {

namespace {

/// Kernels that cannot unload modules do not keep what is for their end.
bool is_kept(std::string_view section, bool can_unload) {
    if (section.starts_with(".exit")) return can_unload;
    return !section.starts_with(".init");
}

/// module_frob_arch_sections(), arch/arm64/kernel/module-plts.c.
bool is_sized_at_load(std::string_view section, unsigned machine) {
    return machine == EM_AARCH64 && (section == ".plt" || section == ".text.ftrace_trampoline");
}

}  // namespace

ModuleInfo module_info(const ElfFile& elf) {
    ModuleInfo info;
    const auto* const section = elf.section(".modinfo");
    if (section == nullptr) return info;
    for (const auto entry : base::split({section->bytes.data(), section->bytes.size()}, '\0')) {
        constexpr std::string_view name = "name=", vermagic = "vermagic=";
        if (entry.starts_with(name)) info.name = entry.substr(name.size());
        if (entry.starts_with(vermagic)) info.vermagic = entry.substr(vermagic.size());
    }
    return info;
}

bool is_module(const ElfFile& elf) {
    return elf.header().e_type == ET_REL && elf.section(".modinfo") != nullptr;
}

std::vector<PlacedSection> lay_out_code(const ElfFile& elf) {
    constexpr std::uint64_t largest = std::uint64_t{1} << 30;
    const auto vermagic = module_info(elf).vermagic;
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

}  // namespace stapgen::symbols
