#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// What kind of place an address in a text stands for, by the words before it in its line.
enum class Mention {
    drop,         ///< in a line about a dropped packet: a return address, and one of a drop site
    back_trace,   ///< any other: taken for a return address
    instruction,  ///< behind RIP:, EIP, IP:, PC is at, pc :, NIP or another register: the address itself
};

/// Who knows names.
class AddressNamer {
  public:
    virtual ~AddressNamer() = default;
    /// Appends the name, as name+0xoffset/0xsize [module]. False, and nothing appended: there is none.
    virtual bool append_name(std::uint64_t address, Mention mention, std::string& out) const = 0;
};

/// Who wants to know which addresses there are.
class AddressCollector {
  public:
    virtual ~AddressCollector() = default;
    virtual void address(std::uint64_t address, Mention mention) = 0;
};

/// What the words of a line say of an address that comes behind them.
class LineWords {
  public:
    /// Goes on in the text; no word of it is cut off at its end.
    void read(std::string_view text);
    [[nodiscard]] Mention mention() const;

  private:
    void take(std::string_view word);

    bool drop_ = false;
    bool no_loss_ = false;      ///< of a packet that was freed, not dropped
    bool instruction_ = false;  ///< nothing but numbers since the name of a register
};

/// Copies text through, names in place of kernel addresses, and every other byte as it is. An address is a word of
/// exactly `digits` hex digits, with or without 0x, that has a name: 16, or 8 for 32-bit kernels. A word is letters,
/// digits and '_'; what is around it does not matter and stays: brackets, "+0x10" behind it, bytes that are no text.
class Annotator {
  public:
    explicit Annotator(const AddressNamer& names, int digits = 16)
        : names_(names), digits_(static_cast<std::size_t>(digits)) {}

    /// Any piece of text, cut anywhere; what is known to be whole is appended to `out`: all but a word at its end, of
    /// which not more than its last 19 bytes are kept back.
    void feed(std::string_view text, std::string& out);
    /// The rest.
    void finish(std::string& out);

  private:
    void copy(std::size_t whole, std::size_t given, std::string& out);

    const AddressNamer& names_;
    std::size_t digits_;
    LineWords words_;
    std::string partial_;
};

/// The addresses of a text of whole lines, by the same rules; whether they have names is not known.
void collect_addresses(std::string_view text, AddressCollector& collector, int digits = 16);

}  // namespace stapgen::symbols
