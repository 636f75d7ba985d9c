// SPDX-License-Identifier: GPL-2.0-or-later
#include "filter/place.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "filter/libpcap.h"

namespace stapgen::filter {

namespace {

/// Parentheses and brackets are words of their own.
std::vector<Place> words_of(std::string_view expression) {
    constexpr std::string_view blanks = " \t\r\n", single = "()[]";
    std::vector<Place> words;
    for (std::size_t at = 0; at < expression.size();) {
        if (blanks.find(expression[at]) != std::string_view::npos) {
            ++at;
            continue;
        }
        const bool is_single = single.find(expression[at]) != std::string_view::npos;
        const auto end = is_single ? at + 1 : expression.find_first_of(" \t\r\n()[]", at);
        const auto word = expression.substr(at, end == std::string_view::npos ? end : end - at);
        words.push_back({std::string(word), at + 1});
        at += word.size();
    }
    return words;
}

/// What closes the parentheses and brackets that are open, from the innermost on.
std::string closing(std::string_view beginning) {
    std::string closers;
    for (const char c : beginning) {
        if (c == '(') closers += ')';
        if (c == '[') closers += ']';
        if ((c == ')' || c == ']') && !closers.empty()) closers.pop_back();
    }
    std::ranges::reverse(closers);
    return closers;
}

/// Whether some end makes an expression of it: a value for what comes last, what closes it, and a comparison if what
/// was closed is a number.
bool can_go_on(const std::string& beginning, bool optimize) {
    constexpr std::array values{"",        " tcp",         " 1",        " 1.1.1.1", " 1.0.0.0/8",
                                " ::1",    " 1:2:3:4:5:6", " > 1",      " 1 > 1",   " host 1.1.1.1",
                                " port 1", " dst port 1",  " 255.0.0.0"};
    const auto closers = closing(beginning);
    for (const auto* const value : values) {
        const auto text = beginning + value;
        if (libpcap_compile(text + closers, optimize)) return true;
        for (std::size_t closed = 1; closed <= closers.size(); ++closed) {
            if (libpcap_compile(text + closers.substr(0, closed) + " > 1" + closers.substr(closed), optimize))
                return true;
        }
    }
    return false;
}

}  // namespace

std::optional<Place> find_word(std::string_view expression, std::string_view word) {
    for (auto& of : words_of(expression)) {
        if (of.word == word) return std::move(of);
    }
    return std::nullopt;
}

std::optional<Place> first_wrong_word(const std::string& expression) {
    const auto words = words_of(expression);
    // That nothing can pass it says only there.
    constexpr std::size_t is_short = 1024;
    const bool optimize = expression.size() < is_short;
    const auto wrong = std::ranges::partition_point(words, [&](const Place& place) {
        return can_go_on(expression.substr(0, place.column - 1 + place.word.size()), optimize);
    });
    if (wrong == words.end()) return std::nullopt;
    return *wrong;
}

}  // namespace stapgen::filter
