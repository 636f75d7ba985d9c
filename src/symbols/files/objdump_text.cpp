#include "symbols/files/objdump_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/text.h"

namespace stapgen::symbols {

namespace {

constexpr std::string_view heading = "SYMBOL TABLE:";

/// The seven flags of bfd_print_symbol_vandf() (binutils, bfd/syms.c), and the section behind them.
char nm_type(std::string_view flags, std::string_view section) {
    char type = 'd';
    if (section == "*ABS*") type = 'a';
    if (flags[6] == 'F' || section.find("text") != std::string_view::npos) type = 't';
    if (flags[1] == 'w') return type == 't' ? 'W' : 'V';
    return flags[0] == 'l' ? type : static_cast<char>(std::toupper(type));
}

}  // namespace

bool is_objdump_text(std::string_view text) {
    constexpr std::size_t searched = 4096;
    return text.substr(0, searched).find(heading) != std::string_view::npos;
}

std::string nm_of_objdump(std::string_view text) {
    constexpr std::size_t flag_count = 7;
    std::string out;
    text.remove_prefix(std::min(text.find(heading), text.size()));
    for (auto line : base::split(text, '\n')) {
        const auto digits = line.find(' ');
        if (digits != 8 && digits != 16) continue;
        const auto address = line.substr(0, digits);
        line.remove_prefix(digits + 1);
        if (line.size() <= flag_count || line[flag_count] != ' ') continue;
        const auto flags = line.substr(0, flag_count);
        const auto rest = base::words(line.substr(flag_count));
        if (rest.size() < 3 || rest[0] == "*UND*" || flags[5] != ' ' || flags[6] == 'f') continue;
        fmt::format_to(std::back_inserter(out), "{} {} {} {}\n", address, rest[1], nm_type(flags, rest[0]),
                       rest.back());
    }
    return out;
}

}  // namespace stapgen::symbols
