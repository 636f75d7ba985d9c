// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "symbols/files/elf_file.h"
#include "symbols/files/symbol_text.h"

namespace stapgen::symbols {

/// Kinds of addresses. The place where a packet was dropped and the entries of a stack are return addresses:
/// they point behind a call, which may be the last instruction of its function.
enum class AddressKind {
    exact,           ///< an instruction: a probe point, a function
    drop_site,       ///< a return address, but where a function begins that function: net_tx_action() gives its own
                     ///< address as the place, and what frees a packet returns, so no call of it ends a function
    return_address,  ///< looked up one byte before; the offset remains that of the address given (as %pB
                     ///< does)
};

/// How to look up.
struct Lookup {
    AddressKind kind = AddressKind::exact;
    /// Address at run time minus address in the table, in bytes; what KASLR added to a System.map.
    /// Modules do not move with the kernel: with a KASLR offset their symbols are never an answer.
    std::int64_t kaslr_offset = 0;
};

/// The function that an address lies in. The views live as long as the table.
struct Symbol {
    std::string_view name;
    std::uint64_t offset = 0;  ///< bytes from the start; at most `size`, and below it for an exact address
    std::uint64_t size = 0;    ///< bytes to the next symbol, by the kernel's own rule; above 0
    std::optional<std::string_view> module;  ///< none: the kernel itself
    bool init_text = false;                  ///< code of the boot, freed after it
    bool doubtful = false;                   ///< the table may be of another kernel

    /// "name", "name?" of a doubtful one.
    [[nodiscard]] std::string marked_name() const { return std::string(name) + (doubtful ? "?" : ""); }
};

/// "name+0x30d/0x720", "name?+0x30d/0x720", "name+0x1/0x20 [module]", "name+0x1/0x20 (init text)".
std::string to_string(const Symbol& symbol);
void append(std::string& out, const Symbol& symbol);

/// Addresses that the linker script gives, as they stand in the table.
struct Markers {
    std::optional<std::uint64_t> text, stext, etext, sinittext, einittext;
};
inline constexpr std::pair<std::string_view, std::optional<std::uint64_t> Markers::*> marker_names[]{
    {"_stext", &Markers::stext},         {"_text", &Markers::text},           {"_etext", &Markers::etext},
    {"_sinittext", &Markers::sinittext}, {"_einittext", &Markers::einittext},
};

/// The code of one kernel: address -> function. Not changed after parse().
///
/// An answer is given only for an address that lies in code, never the nearest symbol:
/// - kernel text is [min(_text, _stext), _etext), init text [_sinittext, _einittext). The type alone does
///   not mark code: in Debian's 7.2 some 20,000 symbols of .data are T or t. A table without these marks
///   (an excerpt) is taken whole, its last function reaching to the end of its 4 KiB page at most.
/// - a function ends where the next symbol begins, of whatever type, absolute (A) ones and the marks that
///   toolchains leave ($d, $x, .L*, __typeid__*) not counted. An address behind a symbol that is data has no
///   answer.
/// - a function has 128 KiB at most: behind that there is no name, however far the next symbol is.
/// - a function of a module whose next symbol is not code of the same module ends with its 4 KiB page at
///   the latest: the end of a module's text is in no symbol table, and it begins on a page. So does each piece of code
///   that the kernel has made at run time ([bpf], [__builtin__ftrace], [__builtin__kprobes]), whatever follows.
///
/// Several names at one address: the one that the kernel prints with %pS, the first in its own order. That
/// order (the sort of the kernel's scripts/kallsyms.c) is: not weak before weak, then names that do not look
/// given by the linker script (__start_*, *_end, ...), then fewer leading underscores, then the order of the
/// text. /proc/kallsyms is in that order already; a System.map is brought into it (checked at every address
/// of a kallsyms of 6.1, 6.12, 6.18 and 7.2, sorted anew by name). For modules the kernel takes the first in
/// the order of the text; so do we.
class SymbolTable {
  public:
    /// `text` is System.map or /proc/kallsyms, sorted or not. Errors: those of parse_symbol_text(), and a
    /// table without code.
    static base::Result<SymbolTable> parse(FileBytes text, std::string_view origin = "the symbol table");
    static base::Result<SymbolTable> parse(std::string text, std::string_view origin = "the symbol table") {
        return parse(FileBytes(std::move(text)), origin);
    }
    /// The same of a file, packed or not. Errors: those of parse(), and that it cannot be read.
    static base::Result<SymbolTable> read(const std::filesystem::path& path);

    [[nodiscard]] std::optional<Symbol> find(std::uint64_t address, const Lookup& lookup = {}) const&;
    std::optional<Symbol> find(std::uint64_t address, const Lookup& lookup = {}) const&& = delete;

    /// Brings into the cache what find() will need of these addresses. What is in no order is found in a quarter of the
    /// time then, some dozens at once: their ways to memory are waited for together.
    void look_ahead(std::span<const std::uint64_t> addresses, std::int64_t kaslr_offset) const;

    [[nodiscard]] std::size_t size() const { return starts_.size(); }  ///< functions, one per address
    [[nodiscard]] bool has_modules() const { return modules_.size() > 1; }
    [[nodiscard]] const Markers& markers() const { return markers_; }
    /// Its addresses are written in 8 digits, all of them.
    [[nodiscard]] bool is_32_bit() const { return is_32_bit_; }

    /// One of size(), by address; its offset is 0.
    struct Entry {
        std::uint64_t start = 0;
        Symbol symbol;
    };
    [[nodiscard]] Entry function(std::size_t index) const&;
    Entry function(std::size_t index) const&& = delete;
    /// Where functions of this name begin, modules' included; several static functions may share a name.
    [[nodiscard]] std::vector<std::uint64_t> addresses_of(std::string_view name) const;

  private:
    struct Function {
        std::uint64_t size;
        std::uint32_t name_begin;
        std::uint32_t module;
        std::uint16_t name_size;
        bool init_text;
    };

    explicit SymbolTable(FileBytes bytes) : bytes_(std::move(bytes)), text_(bytes_.text()) {}
    /// Notes the markers, leaves out what neither names nor ends a function, sorts the rest.
    void sort_out(std::vector<SymbolLine>& lines);
    void build(const std::vector<SymbolLine>& lines);
    void make_blocks();
    /// Where in blocks_ the search begins; null: the address is outside.
    [[nodiscard]] const std::uint32_t* block_of(std::uint64_t in_table) const;
    [[nodiscard]] Symbol symbol_of(const Function& function, std::uint64_t offset) const;

    FileBytes bytes_;
    std::string_view text_;  ///< all of them
    std::vector<std::string_view> modules_;
    Markers markers_;
    bool is_32_bit_ = false;
    std::vector<std::uint64_t> starts_;  ///< ascending, apart from functions_ to keep the search in the cache
    std::vector<Function> functions_;    ///< functions_[i] starts at starts_[i]
    /// Shortens the search: starts_[blocks_[b]] is the first at or behind starts_[0] + (b << block_bits_).
    std::vector<std::uint32_t> blocks_;
    int block_bits_ = 0;
};

}  // namespace stapgen::symbols
