#pragma once

#include <string_view>

namespace stapgen::cli {

/// A word that stands for a value in help, TID or TIME.
struct ValueWord {
    std::string_view word;
    std::string_view meaning;  ///< with its units
};

/// The word itself: of "SIZE[,N]" SIZE, of "ADDRESS[/PREFIX]" ADDRESS.
std::string_view plain_word(std::string_view value);

/// Null where the option says it all.
const ValueWord* meaning_of(std::string_view value);

}  // namespace stapgen::cli
