#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "symbols/symbol_table.h"

namespace stapgen::symbols {

/// What kind of place an address in a text stands for.
enum class Mention {
    drop,         ///< in a line that tells of a dropped packet: a return address, and one of a drop site
    back_trace,   ///< any other: taken for a return address
    instruction,  ///< behind RIP:, EIP, IP:, PC is at, pc :, NIP: the address itself
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

/// Copies text through, names in place of kernel addresses, and every other byte as it is. An address is a word of
/// exactly `digits` hex digits, with or without 0x, that has a name: 16, or 8 for 32-bit kernels.
class Annotator {
  public:
    explicit Annotator(const AddressNamer& names, int digits = 16) : names_(names), digits_(digits) {}

    /// Any piece of text, cut anywhere; what is known to be whole is appended to `out`: all but a line without its end.
    void feed(std::string_view text, std::string& out);
    /// The rest.
    void finish(std::string& out);

  private:
    const AddressNamer& names_;
    int digits_;
    std::string partial_;
};

/// The addresses of a text of whole lines, by the same rules.
void collect_addresses(std::string_view text, AddressCollector& collector, int digits = 16);

}  // namespace stapgen::symbols
