#pragma once

#include <string>
#include <string_view>

namespace stapgen::symbols {

/// Whether a text is what `objdump -t` prints, by its heading.
bool is_objdump_text(std::string_view text);

/// The same symbols as `nm -S` prints them. Lines that name files, sections and what is not defined are left out; what
/// has not the form of a symbol, too.
std::string nm_of_objdump(std::string_view text);

}  // namespace stapgen::symbols
