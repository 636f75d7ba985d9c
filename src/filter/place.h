// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stapgen::filter {

/// A word of an expression.
struct Place {
    std::string word;
    std::size_t column = 0;  ///< of its first byte, from 1 on
};

/// Where that word is first, as a whole word.
std::optional<Place> find_word(std::string_view expression, std::string_view word);

/// libpcap says what is wrong with an expression and not where. This is the word up to which it has a beginning that
/// something could still follow; nothing if that is all of it: then it lacks its end.
std::optional<Place> first_wrong_word(const std::string& expression);

}  // namespace stapgen::filter
