// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/log_release.h"

#include <algorithm>

#include "base/text.h"

namespace stapgen::symbols {

namespace {

/// "6.1.0-56-amd64": two numbers with a dot between, and whatever a distribution adds.
bool is_release(std::string_view word) {
    constexpr std::size_t max_length = 64;  // __NEW_UTS_LEN
    const auto dot = word.find('.');
    return word.size() <= max_length && dot != std::string_view::npos && base::is_decimal(word.substr(0, dot)) &&
           dot + 1 < word.size() && base::is_digit(word[dot + 1]) && std::ranges::all_of(word, [](char c) {
               return base::is_word_character(c) || std::string_view(".+~-").find(c) != std::string_view::npos;
           });
}

std::string_view first_word(std::string_view text) {
    const auto words = base::words(text);
    return words.empty() ? std::string_view() : words.front();
}

std::string_view release_of_line(std::string_view line) {
    for (const std::string_view before : {"Linux version ", "os release : ", "RELEASE: "}) {
        const auto at = line.find(before);
        if (at == std::string_view::npos) continue;
        if (const auto word = first_word(line.substr(at + before.size())); is_release(word)) return word;
    }
    // The number of the build is behind it: uname -a, an oops.
    for (auto at = line.find(" #"); at != std::string_view::npos; at = line.find(" #", at + 1)) {
        const auto before = line.substr(0, at);
        auto word = before.substr(before.find_last_of(" \t") + 1);
        if (word.starts_with('(')) word.remove_prefix(1);
        const bool is_told = before.find("ainted") != std::string_view::npos || before.starts_with("Linux ") ||
                             before.find(" Linux ") != std::string_view::npos;
        if (is_told && is_release(word)) return word;
    }
    return {};
}

std::string_view without_architecture(std::string_view release) {
    for (const std::string_view architecture : {".x86_64", ".aarch64", ".i686", ".i386", ".ppc64le", ".s390x"}) {
        if (release.ends_with(architecture)) release.remove_suffix(architecture.size());
    }
    return release;
}

bool is_of_upstream(std::string_view release) {
    return std::ranges::all_of(release, [](char c) { return base::is_digit(c) || c == '.'; });
}

}  // namespace

void ReleaseFinder::read(std::string_view lines) {
    for (auto line : base::split(lines, '\n')) {
        line = base::trim(line);
        if (line.empty()) continue;
        auto found = release_of_line(line);
        if (asked_ && is_release(line)) found = line;
        asked_ = line.ends_with("uname -r");
        if (found.empty()) continue;
        several_ = several_ || (!release_.empty() && is_same_release(release_, found) != SameRelease::yes);
        release_ = found;
    }
}

SameRelease is_same_release(std::string_view a, std::string_view b) {
    a = without_architecture(a);
    b = without_architecture(b);
    if (a == b) return SameRelease::yes;
    if (a.size() > b.size()) std::swap(a, b);
    const bool is_beginning = b.starts_with(a) && (b[a.size()] == '-' || b[a.size()] == '+');
    return is_beginning && is_of_upstream(a) ? SameRelease::unknown : SameRelease::no;
}

}  // namespace stapgen::symbols
