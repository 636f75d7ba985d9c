// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/elf_file.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "base/source.h"
#include "base/unpacker.h"

namespace stapgen::symbols {

bool ElfFile::looks_like_one(std::string_view beginning) {
    return beginning.starts_with(std::string_view(ELFMAG, SELFMAG));
}

base::Result<ElfFile> ElfFile::open(FileBytes file, std::string_view origin) {
    if (::elf_version(EV_CURRENT) == EV_NONE) return base::failed("libelf is too old for its header");
    const auto damaged = [&] {
        return base::bad_input(fmt::format("{} is a damaged ELF file", origin), "copy it again");
    };
    ElfFile made(std::move(file));
    const auto bytes = made.file_.bytes();
    made.elf_.reset(::elf_memory(bytes.data(), bytes.size()));
    std::size_t names = 0, count = 0;
    if (!made.elf_ || ::elf_kind(made.elf_.get()) != ELF_K_ELF ||
        ::gelf_getehdr(made.elf_.get(), &made.header_) == nullptr || ::elf_getshdrnum(made.elf_.get(), &count) != 0) {
        return damaged();
    }
    if (::gelf_getclass(made.elf_.get()) != ELFCLASS64) {
        return base::bad_input(fmt::format("{} is of a 32-bit machine, which stapgen does not read", origin),
                               "convert it with nm -n, and give the result");
    }
    if (count == 0) return made;
    if (::elf_getshdrstrndx(made.elf_.get(), &names) != 0) return damaged();
    made.sections_.resize(count);
    for (Elf_Scn* part = nullptr; (part = ::elf_nextscn(made.elf_.get(), part)) != nullptr;) {
        const auto index = ::elf_ndxscn(part);
        if (index >= count) return damaged();
        auto& section = made.sections_[index];
        section.index = index;
        if (::gelf_getshdr(part, &section.header) == nullptr) return damaged();
        const char* name = ::elf_strptr(made.elf_.get(), names, section.header.sh_name);
        if (name == nullptr) return damaged();
        section.name = name;
        if (section.header.sh_type != SHT_NOBITS) {
            section.bytes = made.bytes(section.header.sh_offset, section.header.sh_size);
        }
    }
    return made;
}

const ElfSection* ElfFile::section(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &ElfSection::name);
    return found == sections_.end() ? nullptr : &*found;
}

std::vector<GElf_Phdr> ElfFile::segments() const {
    std::vector<GElf_Phdr> segments;
    std::size_t count = 0;
    if (::elf_getphdrnum(elf_.get(), &count) != 0) return segments;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr segment;
        if (::gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) == nullptr) break;
        segments.push_back(segment);
    }
    return segments;
}

std::span<char> ElfFile::bytes(std::uint64_t offset, std::uint64_t size) const {
    const auto all = file_.bytes();
    if (offset > all.size() || size > all.size() - offset) return {};
    return all.subspan(offset, size);
}

void ElfFile::each_symbol(const std::function<void(std::string_view, const GElf_Sym&, const ElfSection*)>& each) const {
    constexpr std::size_t max_name_length = 512;
    const auto table =
        std::ranges::find(sections_, SHT_SYMTAB, [](const auto& section) { return section.header.sh_type; });
    if (table == sections_.end() || table->header.sh_entsize == 0) return;
    Elf_Data* const data = ::elf_getdata(::elf_getscn(elf_.get(), table->index), nullptr);
    if (data == nullptr) return;
    Elf_Data* extended = nullptr;  // sections' numbers that need more than 16 bits
    for (const auto& section : sections_) {
        if (section.header.sh_type == SHT_SYMTAB_SHNDX && section.header.sh_link == table->index) {
            extended = ::elf_getdata(::elf_getscn(elf_.get(), section.index), nullptr);
        }
    }
    const auto count = std::min<std::size_t>(data->d_size / table->header.sh_entsize, std::numeric_limits<int>::max());
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Sym symbol;
        Elf32_Word section = 0;
        if (::gelf_getsymshndx(data, extended, static_cast<int>(i), &symbol, &section) == nullptr) return;
        if (symbol.st_shndx != SHN_XINDEX) section = symbol.st_shndx;
        const bool absolute = symbol.st_shndx == SHN_ABS;
        if (!absolute && (section == SHN_UNDEF || section >= sections_.size())) continue;
        const char* const text = ::elf_strptr(elf_.get(), table->header.sh_link, symbol.st_name);
        if (text == nullptr) continue;
        const std::string_view name(text);
        if (name.empty() || name.size() > max_name_length) continue;
        each(name, symbol, absolute ? nullptr : &sections_[section]);
    }
}

std::string ElfFile::build_id() const {
    const void* bytes = nullptr;
    const auto size = ::dwelf_elf_gnu_build_id(elf_.get(), &bytes);
    std::string id;
    const auto* const begin = static_cast<const unsigned char*>(bytes);
    for (std::ptrdiff_t i = 0; i < size; ++i)
        id += fmt::format("{:02x}", begin[i]);
    return id;
}

namespace {

char section_type(const ElfSection& section) {
    if (section.is_code()) return 't';
    if (section.header.sh_type == SHT_NOBITS) return 'b';
    return (section.header.sh_flags & SHF_WRITE) != 0 ? 'd' : 'r';
}

/// A vmlinux with DWARF has up to 900 MB.
std::size_t max_unpacked(std::string_view beginning) {
    return beginning.starts_with(ELFMAG) ? base::limits::elf_bytes : base::limits::kernel_text_bytes;
}

}  // namespace

char nm_type(const GElf_Sym& symbol, const ElfSection* section) {
    const auto binding = GELF_ST_BIND(symbol.st_info);
    // The upper case of a weak symbol says that it is defined.
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

FileBytes::FileBytes(std::string made) {
    const auto owner = std::make_shared<std::string>(std::move(made));
    owner_ = owner;
    bytes_ = *owner;
}

base::Result<FileBytes> FileBytes::read(const std::filesystem::path& path) {
    const auto unpacked = [&] {
        return base::read_unpacked(path, max_unpacked).map([](std::string&& made) {
            return FileBytes(std::move(made));
        });
    };
    const base::Descriptor fd(base::open_to_read(path, O_NONBLOCK));
    if (fd.get() < 0) {
        return base::bad_input(fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)),
                               "name a file that can be read");
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return unpacked();
    const auto size = static_cast<std::size_t>(status.st_size);
    // Writable and private: libdw relocates a module's DWARF in place.
    void* const begin = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd.get(), 0);
    if (begin == MAP_FAILED) {
        return base::bad_input(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)),
                               "copy it to a local disk");
    }
    FileBytes file(std::shared_ptr<void>(begin, [size](void* mapped) { ::munmap(mapped, size); }),
                   {static_cast<char*>(begin), size});
    const auto beginning = file.text().substr(0, base::magic_size);
    if (base::make_unpacker(beginning) != nullptr || base::changes_as_utf8(beginning)) return unpacked();
    return file;
}

}  // namespace stapgen::symbols
