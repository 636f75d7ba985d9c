#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/text.h"
#include "symbols/files/hex.h"

namespace stapgen::symbols {

/// A word of a text that is an address: as many hex digits as are asked for, with or without 0x.
struct AddressWord {
    std::size_t begin, end;  ///< 0x included
    std::uint64_t address;
};

/// The address that the run of `digits` hex digits at `run` is, if it is a word of its own.
inline bool read_address(std::string_view text, std::size_t run, std::size_t digits, AddressWord& word) {
    word.begin = run;
    word.end = run + digits;
    if (word.end < text.size() && base::is_word_character(text[word.end])) return false;
    if (run >= 2 && (text[run - 1] == 'x' || text[run - 1] == 'X') && text[run - 2] == '0') {
        word.begin -= 2;
    }
    if (word.begin > 0 && base::is_word_character(text[word.begin - 1])) return false;
    word.address = 0;
    for (auto at = run; at < word.end; at += 8) {
        std::uint64_t eight = 0;
        hex::read_eight(text.data() + at, eight);
        word.address = word.address << 32 | eight;
    }
    return true;
}

/// Tells `found` of each address word. A run of n digits covers exactly one of any n bytes in a
/// row that are n apart: only those are looked at.
template <class Found>
void for_each_address(std::string_view text, std::size_t digits, Found found) {
    std::size_t passed = 0;
    for (auto at = digits - 1; at < text.size();) {
        if (!hex::is_digit(text[at])) {
            at += digits;
            continue;
        }
        auto begin = at;
        while (begin > passed && hex::is_digit(text[begin - 1]))
            --begin;
        auto stop = at + 1;
        while (stop < text.size() && hex::is_digit(text[stop]))
            ++stop;
        AddressWord word{};
        if (stop - begin == digits && read_address(text, begin, digits, word)) found(word);
        passed = stop;
        at = stop + digits;
    }
}

}  // namespace stapgen::symbols
