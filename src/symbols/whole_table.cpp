#include "symbols/whole_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "symbols/kaslr/drop_sites.h"

namespace stapgen::symbols {

namespace {

/// One or two may have been renamed or put in line; of a table without its static functions six are missing.
constexpr std::size_t max_missing = 2;
constexpr std::size_t few_functions = 32;
/// In bytes. No kernel with IPv4 has less text.
constexpr std::uint64_t smallest_text = 1U << 20U;

constexpr const char* hint = "give the whole System.map, or a whole copy of /proc/kallsyms";

}  // namespace

base::Result<void> expect_whole(const SymbolTable& table, std::string_view origin) {
    std::bitset<of_each_kernel.size()> there;
    std::size_t functions = 0;
    std::uint64_t first = 0, last = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        const auto [start, symbol] = table.function(i);
        if (symbol.module) continue;
        if (++functions == 1) first = start;
        last = start;
        const auto name = source_name(symbol.name);
        const auto found = std::ranges::lower_bound(of_each_kernel, name);
        if (found != of_each_kernel.end() && *found == name) {
            there.set(static_cast<std::size_t>(found - of_each_kernel.begin()));
        }
    }
    if (functions < few_functions || last - first < smallest_text) return {};
    const auto missing = there.size() - there.count();
    if (missing <= max_missing) return {};
    std::size_t example = 0;
    while (there.test(example))
        ++example;
    return base::bad_input(fmt::format("{} is an excerpt: of {} functions that each kernel has it lacks {}, such as "
                                       "{}(); names from it can be those of neighbours",
                                       origin, there.size(), missing, of_each_kernel[example]),
                           hint);
}

}  // namespace stapgen::symbols
