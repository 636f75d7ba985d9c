// SPDX-License-Identifier: GPL-2.0-or-later
#include <cxxabi.h>

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "symbols/user/program_symbols.h"

namespace stapgen::symbols::user {

namespace {

/// How often a part of the name stands for one before it ("S_", "T0_"). With N of them it may be exp(N/e) times as long
/// as it is: three of one that has three of one.
int references_in(std::string_view name) {
    int count = 0;
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (name[at] != 'S' && name[at] != 'T') continue;
        auto end = at + 1;
        while (end < name.size() && (std::isdigit(static_cast<unsigned char>(name[end])) != 0 ||
                                     std::isupper(static_cast<unsigned char>(name[end])) != 0))
            ++end;
        count += end < name.size() && name[end] == '_' ? 1 : 0;
    }
    return count;
}

}  // namespace

std::string demangled(std::string_view name) {
    constexpr std::size_t longest = 1024;
    constexpr int most_references = 24;
    std::string text(name.substr(0, longest));
    if (!name.starts_with("_Z") || name.size() > longest || references_in(name) > most_references) return text;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> made(abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    if (made == nullptr || status != 0) return text;
    text = made.get();
    if (text.size() > longest) text.replace(longest, std::string::npos, "...");
    return text;
}

}  // namespace stapgen::symbols::user
