// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/prefix_stripper.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <functional>
#include <utility>

#include "base/text.h"
#include "decode/format_detector.h"
#include "decode/headings.h"
#include "decode/prompt_stripper.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t max_words = 8, max_signs = 3, max_shapes = 4, max_length = 160;
constexpr std::string_view blanks = " \t", signs = ":|>)";
constexpr auto npos = std::string_view::npos;
constexpr std::ptrdiff_t enough_lines = 64;
constexpr std::size_t enough_bytes = 64U << 10U;
// The second: what quoted-printable makes of '='. No tool prints that of a value.
constexpr std::string_view no_break_space = "\xc2\xa0", quoted_equals = "=3D";

/// Where what follows `count` words begins, the line's end where nothing does; npos: there are fewer.
std::size_t behind_words(std::string_view line, std::size_t count) {
    auto at = std::min(line.find_first_not_of(blanks), line.size());
    for (; count > 0 && at < line.size(); --count) {
        at = std::min(line.find_first_of(blanks, at), line.size());
        at = std::min(line.find_first_not_of(blanks, at), line.size());
    }
    return count > 0 || at > max_length ? npos : at;
}

std::size_t word_end(std::string_view line, std::size_t begin) {
    return std::min(line.find_first_of(blanks, begin), line.size());
}

/// Where what follows `count` signs of the word at `begin` begins; npos: it has fewer.
std::size_t behind_signs(std::string_view line, std::size_t begin, std::size_t count) {
    const auto end = word_end(line, begin);
    for (; count > 0; --count) {
        begin = line.find_first_of(signs, begin);
        if (begin >= end) return npos;
        ++begin;
    }
    return std::min(line.find_first_not_of(blanks, begin), line.size());
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

std::string_view without_end(std::string_view line) {
    return line.substr(0, line.find_last_not_of("\r\n") + 1);
}

class NullSink final : public FormatDetector::Sink {
  public:
    void record(FormatDetector::Source& /*source*/, const Record& /*record*/) override {}
    void line(FormatDetector::Source& /*source*/, const Line& /*line*/) override {}
    void message(std::string_view /*text*/) override {}
};

/// Whether each line is understood and not blank. Of a mark it would not be known which prefix it is the end of.
std::vector<bool> understood(std::string_view lines) {
    FormatDetector detector(FormatDetector::Repair::no);
    NullSink null;
    PromptStripper plain;
    std::vector<bool> flags;
    while (!lines.empty()) {
        const auto line = take_line(lines);
        const auto before = detector.input().recognised;
        detector.feed(line, null);
        plain.set(base::trim(line));
        flags.push_back(!plain.text().empty() && detector.input().recognised > before);
    }
    return flags;
}

bool is_encoded(std::string_view text) {
    return text.find(no_break_space) != npos || text.find(quoted_equals) != npos;
}

std::string with_plain_signs(std::string_view text) {
    std::string plain(text);
    if (!is_encoded(text)) return plain;
    boost::algorithm::replace_all(plain, no_break_space, " ");
    boost::algorithm::replace_all(plain, quoted_equals, "=");
    return plain;
}

}  // namespace

void LinePrefix::learn(std::string_view text) {
    const auto as_is = understood(text);
    Lines lines;
    for (auto rest = text; !rest.empty();)
        lines.push_back(without_end(take_line(rest)));
    const auto blank = std::ranges::count_if(lines, [](auto line) { return line.find_first_not_of(blanks) == npos; });
    const auto count_of = [](const std::vector<bool>& flags) { return std::ranges::count(flags, true); };
    auto best = as_is;
    if (count_of(as_is) + blank == std::ssize(lines)) return;
    for (std::size_t all = 1; all < (max_words + 1) * (max_signs + 1); ++all) {
        LinePrefix tried;
        tried.words_ = all / (max_signs + 1);
        tried.signs_ = all % (max_signs + 1);
        // Two lines may be alike by chance.
        constexpr std::ptrdiff_t min_lines = 3;
        if (std::ranges::count_if(lines, [&](auto line) { return tried.length(line) > 0; }) < min_lines) continue;
        auto flags = understood(tried.without(text));
        const auto count = count_of(flags);
        if (count < min_lines || count < count_of(best)) continue;
        if (count == count_of(best) && (is_empty() || !tried.goes_on(*this, lines, flags))) continue;
        best = std::move(flags);
        *this = tried;
    }
    learn_number(lines, best);
    if (!is_empty()) learn_shapes(lines, as_is, best);
}

/// Whether the prefix ends in a number, and whose that is: a line's grows by one from line to line.
void LinePrefix::learn_number(const Lines& lines, const std::vector<bool>& of) {
    std::vector<std::int64_t> numbers;
    bool is_numbered = true, is_free = true;
    for (std::size_t i = 0; i < lines.size() && words_ > 0 && signs_ == 0; ++i) {
        const auto line = lines[i];
        const auto number = of[i] && length(line) > 0 ? line_count(piece(line, words_ - 1)) : std::nullopt;
        if (!number) continue;
        numbers.push_back(*number);
        const auto begin = behind_words(line, words_ - 1), end = word_end(line, begin);
        is_numbered &= line.substr(end, 1) == "\t" || (end == numbered_column && line.substr(end).starts_with("  "));
        const auto before = base::trim(line.substr(0, begin));
        is_free &= before.empty() || std::isalnum(static_cast<unsigned char>(before.back())) == 0;
    }
    const auto by_one = [](std::int64_t a, std::int64_t b) { return b != a + 1; };
    const bool grows = std::ranges::adjacent_find(numbers, std::greater_equal()) == numbers.end();
    const bool is_of_line = std::ranges::adjacent_find(numbers, by_one) == numbers.end() || (is_numbered && grows);
    const bool is_constant = std::ranges::adjacent_find(numbers, std::not_equal_to()) == numbers.end();
    // A time may end in its year. What else follows a word is a count or not.
    if (numbers.size() < 2 || (!is_of_line && !is_free && is_constant)) return;
    has_number_ = is_of_line || is_free;
    is_count_ = !is_of_line && is_free;
    may_count_ = is_of_line && !is_numbered;
    if (!has_number_) --words_;
}

/// Whether it takes more off than `shorter`, and the same of all these lines.
bool LinePrefix::goes_on(const LinePrefix& shorter, const Lines& lines, const std::vector<bool>& of) const {
    std::optional<std::string_view> more;
    for (std::size_t i = 0; i < of.size(); ++i) {
        const auto from = shorter.length(lines[i]), to = length(lines[i]);
        if (!of[i] || (from == 0 && to == 0)) continue;
        if (from == 0 || to <= from) return false;
        const auto here = base::trim(lines[i].substr(from, to - from));
        if (more && *more != here) return false;
        more = here;
    }
    return more.has_value();
}

/// From the lines that it hides.
void LinePrefix::learn_shapes(const Lines& lines, const std::vector<bool>& as_is, const std::vector<bool>& without_it) {
    std::vector<std::set<std::string>> shapes(words_ + (signs_ > 0 ? 1 : 0));
    for (std::size_t i = 0; i < without_it.size(); ++i) {
        if (as_is[i] || !without_it[i] || length(lines[i]) == 0) continue;
        for (std::size_t k = 0; k < shapes.size(); ++k)
            shapes[k].insert(shape_of(piece(lines[i], k)));
    }
    for (auto& of_one : shapes) {
        if (of_one.size() > max_shapes) of_one.clear();
    }
    shapes_ = std::move(shapes);
}

std::string_view LinePrefix::piece(std::string_view line, std::size_t index) const {
    const auto begin = behind_words(line, index);
    const auto end = index < words_ ? word_end(line, begin) : behind_signs(line, begin, signs_);
    return base::trim(line.substr(begin, end - begin));
}

/// 0: the line does not have it.
std::size_t LinePrefix::length(std::string_view line) const {
    auto begin = behind_words(line, words_);
    if (begin != npos && signs_ > 0) begin = behind_signs(line, begin, signs_);
    if (begin == npos || (has_number_ && !line_count(piece(line, words_ - 1)))) return 0;
    bool is_known = !shapes_.empty();
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
        if (shapes_[i].empty()) {
            is_known = false;
        } else if (!shapes_[i].contains(shape_of(piece(line, i)))) {
            return 0;
        }
    }
    // A line of nothing else was a blank one, if it is sure that this is what it is.
    return begin == line.size() && !is_known ? 0 : begin;
}

std::string_view LinePrefix::source(std::string_view line) const {
    return is_empty() ? std::string_view() : source_name(line.substr(0, length(without_end(line))));
}

std::string LinePrefix::without(std::string_view lines) const {
    std::string all;
    split(lines, [&](std::string_view part, std::string_view /*source*/) { all += part; });
    return all;
}

void LinePrefix::split(std::string_view lines, const TakeLines& take) const {
    if (is_empty()) return take(lines, {});
    std::string out, of;
    out.reserve(lines.size());
    while (!lines.empty()) {
        const auto line = take_line(lines);
        const auto prefix = length(without_end(line));
        const auto source = source_name(line.substr(0, prefix));
        if (source != of) {
            if (!out.empty()) take(out, of);
            out.clear();
            of = source;
        }
        if (is_count_ && prefix > 0) out += fmt::format("{:>7} ", piece(line, words_ - 1));
        out += line.substr(prefix);
    }
    if (!out.empty()) take(out, of);
}

void PrefixStripper::feed(std::string_view lines, const TakeLines& take) {
    if (!learned_) {
        text_ += lines;
        const bool is_enough = text_.size() >= enough_bytes || std::ranges::count(text_, '\n') >= enough_lines;
        if (is_enough) finish(take);
    } else if (prefix_.is_empty() && !is_encoded(lines)) {
        take(lines, {});
    } else {
        prefix_.split(with_plain_signs(lines), take);
    }
}

void PrefixStripper::finish(const TakeLines& take) {
    if (learned_) return;
    learned_ = true;
    const auto text = std::exchange(text_, {});
    std::string_view behind(text);
    for (std::ptrdiff_t lines = 0;
         lines < enough_lines && !behind.empty() && text.size() - behind.size() < enough_bytes; ++lines)
        take_line(behind);
    prefix_.learn(with_plain_signs(std::string_view(text).substr(0, text.size() - behind.size())));
    if (!text.empty()) prefix_.split(with_plain_signs(text), take);
}

std::string_view PrefixStripper::remark() const {
    if (!prefix_.may_count()) return {};
    return "the numbers before the lines grow by one from line to line, and are taken for line numbers, not for counts "
           "of uniq -c";
}

std::string PrefixStripper::last_line(std::string_view line) const {
    return prefix_.without(with_plain_signs(line));
}

}  // namespace stapgen::decode
