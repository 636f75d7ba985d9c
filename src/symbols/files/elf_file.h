// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <gelf.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::symbols {

/// The content of a file, unpacked where it is packed by gzip, bzip2, xz or zstd. A plain file is mapped, not copied (a
/// vmlinux has up to 900 MB); the file itself is never changed by what is done to the bytes.
class FileBytes {
  public:
    /// Errors (bad_input): it cannot be read; it is damaged; unpacked it is larger than 2 GiB (ELF) or 256 MiB (text).
    static base::Result<FileBytes> read(const std::filesystem::path& path);
    /// Bytes that were made.
    explicit FileBytes(std::string made);

    [[nodiscard]] std::span<char> bytes() const { return bytes_; }
    [[nodiscard]] std::string_view text() const { return {bytes_.data(), bytes_.size()}; }

  private:
    FileBytes(std::shared_ptr<void> owner, std::span<char> bytes) : owner_(std::move(owner)), bytes_(bytes) {}

    std::shared_ptr<void> owner_;
    std::span<char> bytes_;
};

struct ElfSection {
    std::size_t index = 0;
    std::string_view name;
    GElf_Shdr header{};
    std::span<char> bytes;  ///< none where the file has none (NOBITS), or not all of them

    [[nodiscard]] bool allocated() const { return (header.sh_flags & SHF_ALLOC) != 0; }
    /// Machine code. Debian's 7.2 marks .data as executable, too; code is never writable.
    [[nodiscard]] bool is_code() const {
        return allocated() && (header.sh_flags & SHF_EXECINSTR) != 0 && (header.sh_flags & SHF_WRITE) == 0;
    }
};

/// An ELF file of 64 bits, by libelf: what the kernel's and the modules' files have in common.
class ElfFile {
  public:
    static bool looks_like_one(std::string_view beginning);
    /// Errors (bad_input): it is damaged, or of 32 bits. `origin` is the name of the file, for messages.
    static base::Result<ElfFile> open(FileBytes file, std::string_view origin);

    [[nodiscard]] Elf* handle() const { return elf_.get(); }
    [[nodiscard]] const GElf_Ehdr& header() const { return header_; }
    [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
    [[nodiscard]] const ElfSection* section(std::string_view name) const;
    [[nodiscard]] std::vector<GElf_Phdr> segments() const;
    /// The bytes of the file at `offset`, none if it is too short.
    [[nodiscard]] std::span<char> bytes(std::uint64_t offset, std::uint64_t size) const;

    /// Calls `each` for the symbols of .symtab that are places in a section or absolute and have a name of 512 bytes
    /// at most (the kernel's own limit, KSYM_NAME_LEN), in the order of the file. `section` is null for an absolute
    /// one.
    void each_symbol(const std::function<void(std::string_view name, const GElf_Sym& symbol,
                                              const ElfSection* section)>& each) const;

    /// Hexadecimal, GNU; empty if there is none.
    [[nodiscard]] std::string build_id() const;

  private:
    struct End {
        void operator()(Elf* elf) const { ::elf_end(elf); }
    };
    explicit ElfFile(FileBytes file) : file_(std::move(file)) {}

    FileBytes file_;
    std::unique_ptr<Elf, End> elf_;
    GElf_Ehdr header_{};
    std::vector<ElfSection> sections_;  ///< by their index; the first is none
};

/// The letter of nm(1) for a symbol, to distinguish code, weak, absolute and data: T, W, A, D, R, B, and in
/// lower case the local ones. `section` is null for an absolute one.
char nm_type(const GElf_Sym& symbol, const ElfSection* section);

/// The symbols of a file as `LC_ALL=C nm -n -S` prints them; empty if it has none.
std::string nm_text(const ElfFile& elf);

}  // namespace stapgen::symbols
