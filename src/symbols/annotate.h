// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "symbols/files/symbol_table.h"

namespace stapgen::symbols {

/// A hex address as people write it: with or without 0x, in upper or lower case, blanks around it. Error (bad_input):
/// it is not one.
base::Result<std::uint64_t> parse_address(std::string_view word);

/// Hears of addresses before their names are asked for.
using LookAhead = std::function<void(std::span<const std::uint64_t> addresses)>;
/// Appends the name of an address, as name+0xoffset/0xsize [module]. False, and nothing appended: there is none.
using AppendName = std::function<bool(std::uint64_t address, AddressKind kind, std::string& out)>;

/// The kind of an address by the words of its line before it: in a line about a dropped packet it is a drop
/// site; behind RIP:, EIP, IP:, PC is at, pc :, NIP or another register it is exact; any other is taken for a return
/// address.
class LineWords {
  public:
    /// Goes on in the text. No word is cut off at its end.
    void read(std::string_view text);
    [[nodiscard]] AddressKind kind() const;

  private:
    void take(std::string_view word);

    bool drop_ = false;
    bool no_loss_ = false;      ///< of a packet that was freed, not dropped
    bool instruction_ = false;  ///< nothing but numbers since the name of a register
};

/// Copies text through, names instead of kernel addresses, and every other byte as it is. An address is a word of
/// exactly `digits` hex digits, with or without 0x, that has a name: 16, or 8 for 32-bit kernels. A word is letters,
/// digits and '_'; what is around it does not matter and stays: brackets, "+0x10" behind it, bytes that are no text.
class Annotator {
  public:
    explicit Annotator(AppendName append_name, int digits = 16, LookAhead look_ahead = {})
        : append_name_(std::move(append_name)),
          look_ahead_(std::move(look_ahead)),
          digits_(static_cast<std::size_t>(digits)) {}

    /// Goes on in the text. No word is cut off at its end. Appends to `out`.
    void annotate(std::string_view text, std::string& out);

  private:
    struct Found {
        std::size_t begin, end;
        AddressKind kind;
    };

    void put_names(std::string_view text, std::size_t& copied, std::string& out);

    AppendName append_name_;
    LookAhead look_ahead_;
    LineWords words_;
    std::vector<Found> found_;              ///< words that are not yet copied
    std::vector<std::uint64_t> addresses_;  ///< theirs
    std::size_t digits_;
};

/// The addresses of a text of whole lines, by the same rules; whether they have names is not known.
void collect_addresses(std::string_view text, const std::function<void(std::uint64_t address, AddressKind kind)>& found,
                       int digits = 16);

}  // namespace stapgen::symbols
