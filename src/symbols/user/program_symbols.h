// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/user/program_file.h"

namespace stapgen::symbols::user {

struct ProgramSymbol {
    std::string_view name;     ///< as the file has it: mangled
    std::uint64_t offset = 0;  ///< bytes from its beginning
    bool is_data = false;
};

/// The functions and variables of an ELF file of 64 bits, by its own addresses: of .symtab, .dynsym, .gnu_debugdata,
/// .gopclntab, and of the file with its debug information. Nothing in it is trusted: what cannot be read, or is too
/// large, is left out.
class ProgramSymbols {
  public:
    /// Opens the file with debug information of a build-id, which may be none.
    using OpenDebug = std::function<std::optional<ProgramFile>(const std::string& build_id)>;
    static ProgramSymbols read(const ProgramFile& file, const OpenDebug& open_debug = {});

    /// Hexadecimal, GNU; empty: there is none.
    [[nodiscard]] const std::string& build_id() const { return build_id_; }
    /// The address of what is at that place of the file, in a mapping of code or of other things. Nothing: it is in no
    /// segment.
    [[nodiscard]] std::optional<std::uint64_t> address_of(std::uint64_t offset, bool executable) const;
    /// Whether memory of the program is there, .bss too.
    [[nodiscard]] bool has(std::uint64_t address) const;
    [[nodiscard]] std::optional<ProgramSymbol> find(std::uint64_t address) const;
    /// Bytes of memory.
    [[nodiscard]] std::size_t size() const;

    /// Symbols of a file.
    static constexpr std::size_t most = 2'000'000;

  private:
    struct Segment {
        std::uint64_t offset = 0, file_size = 0, address = 0, memory_size = 0;
        bool executable = false;
    };
    struct Entry {
        std::uint64_t begin = 0, size = 0;
        std::uint32_t name = 0;  ///< where in its texts
        std::uint8_t texts = 0;  ///< which of texts_
        bool is_data = false, is_local = false;
    };
    struct Elf;

    void read_segments(const Elf& elf);
    void read_build_id(const Elf& elf);
    void add_symbols(const Elf& elf, std::uint32_t type);
    void add_go_functions(const Elf& elf);
    void sort();

    std::string build_id_;
    std::vector<Segment> segments_;
    std::vector<Entry> entries_;  ///< by their beginnings
    std::vector<std::string> texts_;
};

/// What people call it: of C++ (and Rust, of its older names) with types. Bounded: a name may unfold to gigabytes.
std::string demangled(std::string_view name);

}  // namespace stapgen::symbols::user
