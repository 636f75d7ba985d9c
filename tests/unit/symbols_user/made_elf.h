// SPDX-License-Identifier: GPL-2.0-or-later
// An ELF file as a linker makes it, of few parts.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::symbols::user::made {

template <class T>
std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct Symbol {
    std::string name;
    std::uint64_t value = 0, size = 0;
    unsigned type = STT_FUNC, binding = STB_GLOBAL;
};

struct Section {
    std::string name;
    std::string bytes;
    std::uint32_t type = SHT_PROGBITS;
    std::uint32_t link = 0;
    std::uint64_t entry = 0, address = 0;
};

/// The two sections of a table of symbols, the first of which will be number `index`.
inline std::vector<Section> symbol_sections(const std::vector<Symbol>& symbols, std::uint32_t index,
                                            bool dynamic = false) {
    std::string names(1, '\0'), table(sizeof(Elf64_Sym), '\0');
    for (const auto& symbol : symbols) {
        Elf64_Sym entry{};
        entry.st_name = static_cast<Elf64_Word>(names.size());
        entry.st_info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, symbol.type));
        entry.st_shndx = 1;
        entry.st_value = symbol.value;
        entry.st_size = symbol.size;
        table += bytes_of(entry);
        names += symbol.name + '\0';
    }
    return {{dynamic ? ".dynsym" : ".symtab", table, static_cast<std::uint32_t>(dynamic ? SHT_DYNSYM : SHT_SYMTAB),
             index + 1, sizeof(Elf64_Sym)},
            {dynamic ? ".dynstr" : ".strtab", names, SHT_STRTAB}};
}

/// With a segment of code, offset 0x1000 at 0x401000, and one of data, offset 0x2000 at 0x403000, where 0x800 bytes of
/// 0x2000 are in the file. `sections` begin with number 1.
inline std::string elf(std::vector<Section> sections, const std::string& build_id = {}) {
    constexpr std::uint64_t first = 0x3000;
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    std::string note;
    if (!build_id.empty()) {
        note = bytes_of(Elf64_Nhdr{4, static_cast<Elf64_Word>(build_id.size()), NT_GNU_BUILD_ID}) +
               std::string("GNU\0", 4) + build_id;
    }
    Elf64_Phdr code{PT_LOAD, PF_R | PF_X, 0x1000, 0x401000, 0, 0x1000, 0x1000, 0x1000},
        data{PT_LOAD, PF_R | PF_W, 0x2000, 0x403000, 0, 0x800, 0x2000, 0x1000},
        notes{PT_NOTE, PF_R, 0x800, 0x800, 0, note.size(), note.size(), 4};
    header.e_phnum = note.empty() ? 2 : 3;
    std::string names(1, '\0');
    sections.push_back({".shstrtab", "", SHT_STRTAB});
    std::vector<Elf64_Word> name_of;
    for (const auto& section : sections) {
        name_of.push_back(static_cast<Elf64_Word>(names.size()));
        names += section.name + '\0';
    }
    sections.back().bytes = names;
    header.e_shnum = static_cast<Elf64_Half>(sections.size() + 1);
    header.e_shstrndx = static_cast<Elf64_Half>(sections.size());
    std::string body, table(sizeof(Elf64_Shdr), '\0');
    for (std::size_t i = 0; i < sections.size(); ++i) {
        const auto& section = sections[i];
        Elf64_Shdr entry{};
        entry.sh_name = name_of[i];
        entry.sh_type = section.type;
        entry.sh_addr = section.address;
        entry.sh_offset = first + body.size();
        entry.sh_size = section.bytes.size();
        entry.sh_link = section.link;
        entry.sh_entsize = section.entry;
        table += bytes_of(entry);
        body += section.bytes;
    }
    header.e_shoff = first + body.size();
    auto file = bytes_of(header) + bytes_of(code) + bytes_of(data) + (note.empty() ? "" : bytes_of(notes));
    file.resize(0x800);
    file += note;
    file.resize(first);
    return file + body + table;
}

}  // namespace stapgen::symbols::user::made
