// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/files/elf_file.h"

struct btf;  // of libbpf

namespace stapgen::symbols {

/// A kernel's own file: vmlinux (ELF, with or without symbols and DWARF, packed by gzip, bzip2, xz or zstd or not) or
/// an x86 bzImage (vmlinuz), whose payload is a vmlinux without symbols. Reading only; nothing of DWARF is looked at.
class KernelImage {
  public:
    /// Errors (bad_input), each with its remedy: it is neither; it is damaged; it is a module or another program; it is
    /// of a 32-bit kernel. `origin` is the name of the file, for messages.
    static base::Result<KernelImage> read(FileBytes file, const std::string& origin);
    /// True if the file, unpacked, begins as one of the two do, or as a kernel that read() refuses with the reason why
    /// it cannot be read (arm64's Image). The first 518 bytes are enough.
    static bool looks_like_one(std::string_view beginning);

    [[nodiscard]] const std::string& build_id() const {
        return build_id_;
    }  ///< hexadecimal, GNU; empty if there is none
    /// "6.12.117+deb13-amd64", out of "Linux version ..." in its data; empty if that is not found.
    [[nodiscard]] const std::string& release() const { return release_; }
    /// Its symbols as `nm -n` prints them (a System.map), for SymbolTable::parse(); empty if it has none.
    [[nodiscard]] std::string symbol_text() const;
    /// Section .BTF; empty if there is none.
    [[nodiscard]] std::span<const std::byte> btf() const;

  private:
    explicit KernelImage(ElfFile elf);

    ElfFile elf_;
    std::string build_id_, release_;
};

struct Enumerator {
    std::string name;  ///< at most its first 128 bytes
    std::uint32_t value = 0;
};

/// A kernel's type information: /sys/kernel/btf/vmlinux, or section .BTF of a vmlinux; of either byte order. The format
/// is in the kernel's Documentation/bpf/btf.rst.
class Btf {
  public:
    /// Keeps a copy of `data`. Error (bad_input): it is damaged, or newer than libbpf.
    static base::Result<Btf> parse(std::span<const std::byte> data);

    /// The enumerators of `enum name`, in its order. Empty if there is no such enumeration or it is only declared.
    [[nodiscard]] std::vector<Enumerator> enumeration(std::string_view name) const;

  private:
    explicit Btf(std::shared_ptr<btf> types) : types_(std::move(types)) {}
    std::shared_ptr<btf> types_;
};

}  // namespace stapgen::symbols
