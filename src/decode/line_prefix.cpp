#include "decode/line_prefix.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t most_words = 8, most_shapes = 4, longest = 160;
constexpr std::string_view blanks = " \t";

/// Where the word behind `count` words begins; npos: there is none.
std::size_t behind_words(std::string_view line, std::size_t count) {
    auto at = std::min(line.find_first_not_of(blanks), line.size());
    for (; count > 0 && at < line.size(); --count) {
        at = std::min(line.find_first_of(blanks, at), line.size());
        at = std::min(line.find_first_not_of(blanks, at), line.size());
    }
    return count > 0 || at == line.size() || at > longest ? std::string_view::npos : at;
}

/// Behind the last ':', '|', '>' or ')' of the word at `begin`; npos: it has none, or ends with it.
std::size_t behind_glue(std::string_view line, std::size_t begin) {
    const auto word = line.substr(begin, line.find_first_of(blanks, begin) - begin);
    const auto glue = word.find_last_of(":|>)");
    return glue == std::string_view::npos || glue + 1 == word.size() ? std::string_view::npos : begin + glue + 1;
}

/// A word with 'a' for letters, '9' for digits and one of what repeats: "a9:9:9" of "T00:26:51".
std::string shape_of(std::string_view word) {
    std::string shape;
    for (const char c : word) {
        const auto letter = static_cast<unsigned char>(c);
        const char kind = std::isdigit(letter) != 0 ? '9' : std::isalpha(letter) != 0 ? 'a' : c;
        if (shape.empty() || shape.back() != kind) shape += kind;
    }
    return shape;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (const auto line : base::split(text, '\n')) {
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back(line);
    }
    return lines;
}

/// Names of processes begin with a letter, a digit or one of few signs; the bullets and brackets of other tools do not.
/// A number that counts the lines is no name.
bool cannot_be_name(const std::vector<std::string_view>& lines) {
    std::int64_t expected = -1;
    bool counts = true, marks = true;
    for (const auto line : lines) {
        const auto begin = behind_words(line, 0);
        if (begin == std::string_view::npos) return false;
        auto word = line.substr(begin, line.find_first_of(blanks, begin) - begin);
        marks = marks && std::isalnum(static_cast<unsigned char>(word[0])) == 0 && word[0] != '<';
        const auto number = base::to_int(word.substr(0, word.find_first_not_of("0123456789")));
        counts = counts && number && (expected < 0 || *number == expected);
        expected = number ? *number + 1 : 0;
    }
    return lines.size() > 2 && (counts || marks);
}

}  // namespace

void LinePrefix::learn(std::string_view text, const Understood& understood) {
    const auto lines = lines_of(text);
    auto best = understood(text);
    const bool first_is_foreign = cannot_be_name(lines);
    if (best == lines.size() && !first_is_foreign) return;
    for (std::size_t words = 0; words <= most_words; ++words) {
        for (const bool glued : {false, true}) {
            if (words == 0 && !glued) continue;
            LinePrefix tried;
            tried.words_ = words;
            tried.glued_ = glued;
            const auto count = understood(tried.without(text));
            // Two lines may be alike by chance.
            if (count < 3 || count < best || (count == best && !(first_is_foreign && is_empty()))) continue;
            best = count;
            *this = tried;
        }
    }
    if (is_empty()) return;
    shapes_.resize(words_);
    for (const auto line : lines) {
        if (length(line) == 0) continue;
        for (std::size_t i = 0; i < words_; ++i) {
            const auto begin = behind_words(line, i);
            shapes_[i].insert(shape_of(line.substr(begin, line.find_first_of(blanks, begin) - begin)));
        }
    }
    for (auto& shapes : shapes_) {
        if (shapes.size() > most_shapes) shapes.clear();
    }
}

bool LinePrefix::is_alike(std::string_view line) const {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
        const auto begin = behind_words(line, i);
        const auto word = line.substr(begin, line.find_first_of(blanks, begin) - begin);
        if (!shapes_[i].empty() && !shapes_[i].contains(shape_of(word))) return false;
    }
    return true;
}

/// 0: the line does not have it.
std::size_t LinePrefix::length(std::string_view line) const {
    auto begin = behind_words(line, words_);
    if (begin != std::string_view::npos && glued_) begin = behind_glue(line, begin);
    return begin == std::string_view::npos || !is_alike(line) ? 0 : begin;
}

std::string LinePrefix::without(std::string_view lines) const {
    std::string out;
    out.reserve(lines.size());
    while (!lines.empty()) {
        const auto end = std::min(lines.find('\n'), lines.size() - 1) + 1;
        const auto line = lines.substr(0, end);
        out += line.substr(length(line.substr(0, line.find_last_not_of("\r\n") + 1)));
        lines.remove_prefix(end);
    }
    return out;
}

}  // namespace stapgen::decode
