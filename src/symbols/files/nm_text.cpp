#include "symbols/files/nm_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <tuple>
#include <vector>

namespace stapgen::symbols {

namespace {

char section_type(const ElfSection& section) {
    if (section.is_code()) return 't';
    if (section.header.sh_type == SHT_NOBITS) return 'b';
    return (section.header.sh_flags & SHF_WRITE) != 0 ? 'd' : 'r';
}

}  // namespace

char nm_type(const GElf_Sym& symbol, const ElfSection* section) {
    const auto binding = GELF_ST_BIND(symbol.st_info);
    // Of a weak one the upper case says that it is defined.
    if (binding == STB_WEAK) return GELF_ST_TYPE(symbol.st_info) == STT_OBJECT ? 'V' : 'W';
    const char type = section == nullptr ? 'a' : section_type(*section);
    return binding == STB_LOCAL ? type : static_cast<char>(std::toupper(type));
}

std::string nm_text(const ElfFile& elf) {
    struct Line {
        std::uint64_t address, size;
        std::string_view name;
        char type;
    };
    std::vector<Line> lines;
    elf.each_symbol([&](std::string_view name, const GElf_Sym& symbol, const ElfSection* section) {
        const auto type = GELF_ST_TYPE(symbol.st_info);
        if (type == STT_SECTION || type == STT_FILE) return;
        lines.push_back({symbol.st_value, symbol.st_size, name, nm_type(symbol, section)});
    });
    std::ranges::sort(lines, {}, [](const Line& line) { return std::tuple(line.address, line.name); });
    std::string text;
    for (const auto& line : lines) {
        fmt::format_to(std::back_inserter(text), "{:016x} ", line.address);
        if (line.size != 0) fmt::format_to(std::back_inserter(text), "{:016x} ", line.size);
        fmt::format_to(std::back_inserter(text), "{} {}\n", line.type, line.name);
    }
    return text;
}

}  // namespace stapgen::symbols
