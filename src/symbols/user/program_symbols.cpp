// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/program_symbols.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/elf_notes.h"
#include "base/unpacker.h"
#include "symbols/user/go_functions.h"

namespace stapgen::symbols::user {

namespace {

template <class T>
T copied(std::string_view bytes, std::size_t at) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

/// All of a table; none where an entry has another size, or it cannot be read.
template <class T>
std::vector<T> read_table(const ProgramFile& file, std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
    constexpr std::uint64_t most = 65535;
    std::vector<T> table;
    if (size != sizeof(T) || count > most) return table;
    const auto bytes = file.read(offset, count * sizeof(T));
    if (!bytes || bytes->empty()) return table;
    table.resize(count);
    std::memcpy(table.data(), bytes->data(), bytes->size());
    return table;
}

std::string_view text_at(std::string_view texts, std::uint64_t at) {
    if (at >= texts.size()) return {};
    const auto rest = texts.substr(at);
    const auto end = rest.find('\0');
    return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace

struct ProgramSymbols::Elf {
    ProgramFile file;
    std::vector<Elf64_Phdr> segments;
    std::vector<Elf64_Shdr> sections;
    std::string names;

    static std::optional<Elf> open(const ProgramFile& file) {
        const auto bytes = file.read(0, sizeof(Elf64_Ehdr));
        if (!bytes || !bytes->starts_with(std::string_view(ELFMAG, SELFMAG))) return std::nullopt;
        const auto header = copied<Elf64_Ehdr>(*bytes, 0);
        if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return std::nullopt;
        Elf elf{file,
                read_table<Elf64_Phdr>(file, header.e_phoff, header.e_phnum, header.e_phentsize),
                read_table<Elf64_Shdr>(file, header.e_shoff, header.e_shnum, header.e_shentsize),
                {}};
        if (header.e_shstrndx < elf.sections.size())
            elf.names = elf.bytes_of(&elf.sections[header.e_shstrndx]).value_or("");
        return elf;
    }
    [[nodiscard]] const Elf64_Shdr* section(std::string_view name) const {
        const auto found =
            std::ranges::find_if(sections, [&](const Elf64_Shdr& one) { return text_at(names, one.sh_name) == name; });
        return found == sections.end() ? nullptr : &*found;
    }
    /// Nothing where the file has none, or they are packed.
    [[nodiscard]] std::optional<std::string> bytes_of(const Elf64_Shdr* section) const {
        if (section == nullptr || section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED) != 0)
            return std::nullopt;
        return file.read(section->sh_offset, section->sh_size);
    }
};

void ProgramSymbols::read_segments(const Elf& elf) {
    for (const auto& segment : elf.segments) {
        if (segment.p_type == PT_LOAD)
            segments_.push_back(
                {segment.p_offset, segment.p_filesz, segment.p_vaddr, segment.p_memsz, (segment.p_flags & PF_X) != 0});
    }
}

void ProgramSymbols::read_build_id(const Elf& elf) {
    constexpr std::uint64_t longest_notes = 4096;
    constexpr std::size_t longest = 128;  // of its text
    for (const auto& segment : elf.segments) {
        if (segment.p_type != PT_NOTE || segment.p_filesz > longest_notes) continue;
        auto id = base::parse_build_id(elf.file.read(segment.p_offset, segment.p_filesz).value_or(""));
        if (id.empty() || id.size() > longest) continue;
        build_id_ = std::move(id);
        return;
    }
}

void ProgramSymbols::add_symbols(const Elf& elf, std::uint32_t type) {
    const auto table = std::ranges::find(elf.sections, type, &Elf64_Shdr::sh_type);
    if (table == elf.sections.end() || table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= elf.sections.size())
        return;
    const auto bytes = elf.bytes_of(&*table);
    auto texts = elf.bytes_of(&elf.sections[table->sh_link]);
    if (!bytes || !texts) return;
    const auto number = static_cast<std::uint8_t>(texts_.size());
    for (std::size_t at = 0; bytes->size() - at >= sizeof(Elf64_Sym) && entries_.size() < most;
         at += sizeof(Elf64_Sym)) {
        const auto symbol = copied<Elf64_Sym>(*bytes, at);
        const auto kind = ELF64_ST_TYPE(symbol.st_info);
        const bool is_code = kind == STT_FUNC || kind == STT_GNU_IFUNC || kind == STT_NOTYPE,
                   is_data = kind == STT_OBJECT || kind == STT_COMMON;
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || (!is_code && !is_data)) continue;
        // Those of assemblers for themselves: $x, $d, .L1.
        const auto name = text_at(*texts, symbol.st_name);
        if (name.empty() || name[0] == '$' || name[0] == '.') continue;
        entries_.push_back({symbol.st_value, symbol.st_size, symbol.st_name, number, is_data,
                            ELF64_ST_BIND(symbol.st_info) == STB_LOCAL});
    }
    texts_.push_back(*std::move(texts));
}

void ProgramSymbols::add_go_functions(const Elf& elf) {
    const auto* section = elf.section(".gopclntab");
    if (section == nullptr) section = elf.section(".data.rel.ro.gopclntab");
    auto bytes = elf.bytes_of(section);
    if (!bytes) return;
    const auto* code = elf.section(".text");
    const auto number = static_cast<std::uint8_t>(texts_.size());
    for (const auto& function : go_functions(*bytes, code == nullptr ? 0 : code->sh_addr, most))
        entries_.push_back({function.begin, function.size, function.name, number, false, false});
    texts_.push_back(*std::move(bytes));
}

void ProgramSymbols::sort() {
    // Of several names of one place the one that covers most, then the one that other files know.
    std::ranges::sort(entries_, {}, [](const Entry& entry) {
        return std::tuple(entry.begin, ~entry.size, entry.is_local, entry.texts, entry.name);
    });
}

ProgramSymbols ProgramSymbols::read(const ProgramFile& file, const OpenDebug& open_debug) {
    constexpr std::size_t unpacked = std::size_t{64} << 20U;
    ProgramSymbols symbols;
    const auto elf = Elf::open(file);
    if (!elf) return symbols;
    symbols.read_segments(*elf);
    symbols.read_build_id(*elf);
    symbols.add_symbols(*elf, SHT_SYMTAB);
    const bool is_stripped = symbols.entries_.empty();
    symbols.add_symbols(*elf, SHT_DYNSYM);
    if (is_stripped) {
        symbols.add_go_functions(*elf);
        if (const auto packed = elf->bytes_of(elf->section(".gnu_debugdata"))) {
            auto more = base::unpack(*packed, unpacked);
            if (const auto inner = more.whole ? Elf::open(ProgramFile(std::move(more.bytes))) : std::nullopt)
                symbols.add_symbols(*inner, SHT_SYMTAB);
        }
        if (open_debug && !symbols.build_id_.empty()) {
            const auto debug = open_debug(symbols.build_id_);
            if (const auto of_debug = debug ? Elf::open(*debug) : std::nullopt)
                symbols.add_symbols(*of_debug, SHT_SYMTAB);
        }
    }
    symbols.sort();
    return symbols;
}

std::optional<std::uint64_t> ProgramSymbols::address_of(std::uint64_t offset, bool executable) const {
    // A mapping begins with a page, and two segments may have parts of that.
    constexpr std::uint64_t page = 65536;
    const Segment* best = nullptr;
    for (const auto& segment : segments_) {
        const auto begin = segment.offset - segment.offset % page;
        if (offset < begin || offset >= segment.offset + segment.file_size) continue;
        const bool is_better = best == nullptr ||
                               (segment.executable == executable && best->executable != executable) ||
                               (segment.executable == best->executable && segment.offset <= offset);
        if (is_better) best = &segment;
    }
    if (best == nullptr) return std::nullopt;
    return best->address + (offset - best->offset);
}

bool ProgramSymbols::has(std::uint64_t address) const {
    return std::ranges::any_of(segments_, [&](const Segment& segment) {
        return address >= segment.address && address - segment.address < segment.memory_size;
    });
}

std::size_t ProgramSymbols::size() const {
    auto bytes = entries_.size() * sizeof(Entry);
    for (const auto& texts : texts_)
        bytes += texts.size();
    return bytes;
}

std::optional<ProgramSymbol> ProgramSymbols::find(std::uint64_t address) const {
    constexpr int nested = 16;  // symbols within others that are looked at
    auto at = std::ranges::upper_bound(entries_, address, {}, &Entry::begin);
    const auto behind = at;
    for (int i = 0; i < nested && at != entries_.begin(); ++i) {
        --at;
        // One without a size, as assemblers make them, reaches to the next one.
        const auto first = std::ranges::lower_bound(entries_.begin(), behind, at->begin, {}, &Entry::begin);
        const auto& entry = *first;
        at = first;
        const bool is_in = entry.size == 0 ? i == 0 : address - entry.begin < entry.size;
        if (!is_in) continue;
        const auto name = text_at(texts_[entry.texts], entry.name);
        return ProgramSymbol{name, address - entry.begin, entry.is_data};
    }
    return std::nullopt;
}

}  // namespace stapgen::symbols::user
