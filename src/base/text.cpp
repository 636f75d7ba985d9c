// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/text.h"

#include <fmt/format.h>
#include <sha2.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace stapgen::base {

bool contains_word(std::string_view list, std::string_view word) {
    for (auto at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
        const auto end = at + word.size();
        if ((at == 0 || list[at - 1] == ' ') && (end == list.size() || list[end] == ' ')) return !word.empty();
    }
    return false;
}

bool is_decimal(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_digit);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> parts;
    // find_first_of() calls memchr() for each byte.
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    for (const auto* at = text.begin(); at != text.end();) {
        const auto* const begin = std::find_if_not(at, text.end(), is_blank);
        at = std::find_if(begin, text.end(), is_blank);
        if (begin != at) parts.emplace_back(begin, at);
    }
    return parts;
}

std::optional<std::vector<std::string_view>> match(std::string_view pattern, std::string_view text) {
    std::vector<std::string_view> stars;
    auto star = pattern.find('*');
    if (!text.starts_with(pattern.substr(0, star))) return std::nullopt;
    if (star == std::string_view::npos && text != pattern) return std::nullopt;
    while (star != std::string_view::npos) {
        text.remove_prefix(star);
        pattern.remove_prefix(star + 1);
        star = pattern.find('*');
        const auto literal = pattern.substr(0, star);
        // The last one ends the text; the others stay where they are found first.
        if (star == std::string_view::npos && !text.ends_with(literal)) return std::nullopt;
        const auto at = star == std::string_view::npos ? text.size() - literal.size() : text.find(literal);
        if (at == std::string_view::npos) return std::nullopt;
        stars.push_back(text.substr(0, at));
        text.remove_prefix(at);
    }
    return stars;
}

std::string_view trim(std::string_view text) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

std::string_view whole_characters(std::string_view text, std::size_t max_bytes) {
    constexpr std::size_t longest_character = 4;
    if (text.size() <= max_bytes) return text;
    const auto is_within = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
    auto end = max_bytes;
    while (end > 0 && max_bytes - end < longest_character && is_within(end))
        --end;
    return text.substr(0, end);
}

namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

/// How many bytes of valid UTF-8 begin the text, as one character that a terminal only shows; 0: what begins there is
/// no such character. Control characters are those of ASCII and of ISO 6429's C1, U+0080 to U+009F: CSI is one of them.
std::size_t shown_character(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    // Overlong forms, surrogates, and what is beyond U+10FFFF (RFC 3629).
    const auto second = byte(1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f)) {
        return 0;
    }
    // Characters that turn the direction of text, and with it what is read: U+202A to U+202E, U+2066 to U+2069.
    if (first == 0xe2 && ((second == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
                          (second == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9))) {
        return 0;
    }
    return first == 0xc2 && second < 0xa0 ? 0 : length;
}

}  // namespace

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

std::optional<std::int64_t> to_int(std::string_view text) {
    return whole_number<std::int64_t>(text, 10);
}

std::optional<std::uint64_t> to_unsigned(std::string_view text, int base) {
    return whole_number<std::uint64_t>(text, base);
}

std::optional<std::uint64_t> from_hex(std::string_view text) {
    if (text.starts_with("0x")) text.remove_prefix(2);
    return to_unsigned(text, 16);
}

namespace {

/// Whether a name goes on after `typed`, or has it between dashes: --pid of --target-pid, rx-lat of rx-latency.
bool is_short_for(std::string_view typed, const std::string& name) {
    const auto bare = typed.substr(std::min(typed.find_first_not_of('-'), typed.size()));
    return !bare.empty() &&
           (name.starts_with(typed) || ('-' + name + '-').find(fmt::format("-{}-", bare)) != std::string::npos);
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
    const auto is_meant = [&](const std::string& candidate) { return is_short_for(name, candidate); };
    if (std::ranges::count_if(candidates, is_meant) == 1) return *std::ranges::find_if(candidates, is_meant);
    std::optional<std::string> best;
    std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        const auto distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string meant_hint(std::string_view name, const std::vector<std::string>& candidates, std::string otherwise,
                       std::string_view more) {
    const auto meant = did_you_mean(name, candidates);
    return meant ? fmt::format("did you mean '{}'?{}", *meant, more) : std::move(otherwise);
}

namespace {

/// `escaped` is what stands for a byte that is not to be shown.
template <class Escaped>
std::string with_escapes(std::string_view text, Escaped escaped) {
    std::string out;
    while (!text.empty()) {
        const auto length = shown_character(text);
        if (length == 0) {
            out += escaped(static_cast<unsigned char>(text.front()));
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

}  // namespace

std::string printable(std::string_view text) {
    return with_escapes(text, [](unsigned char byte) { return fmt::format("\\x{:02x}", byte); });
}

std::string shell_printable(std::string_view quoted) {
    return with_escapes(quoted, [](unsigned char byte) { return fmt::format("'$'\\x{:02x}''", byte); });
}

std::string shell_quoted(const std::vector<std::string>& argv) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    std::string line;
    for (const auto& word : argv) {
        if (!line.empty()) line += ' ';
        if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) {
            if (c == '\'') {
                line += "'\\''";
            } else {
                line += c;
            }
        }
        line += '\'';
    }
    return line;
}

std::string with_commas(std::int64_t number) {
    auto text = fmt::format("{}", number);
    for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
        text.insert(static_cast<std::size_t>(i), 1, ',');
    return text;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t begin) {
    std::string lines;
    std::size_t length = begin;
    for (const auto word : words(text)) {
        if (!lines.empty() && length + 1 + word.size() > width) {
            lines += '\n' + std::string(indent, ' ');
            length = indent;
        } else if (!lines.empty()) {
            lines += ' ';
            ++length;
        }
        lines += word;
        length += word.size();
    }
    return lines;
}

std::string fitted(std::string_view text, std::size_t width, std::size_t indent) {
    if (width == 0) return std::string(text);
    std::string out;
    const char* line_end = "";
    for (auto line : split(text, '\n')) {
        out += std::exchange(line_end, "\n");
        const auto first = std::min(line.find_first_not_of(' '), line.size());
        std::string begin;
        while (begin.size() + line.size() > width) {
            const auto room = width - std::min(width, begin.size());
            const auto word = begin.empty() ? first : 0;
            auto at = line.rfind(' ', room);
            // A word that is wider than all stands alone.
            if (at == std::string_view::npos || at <= word) at = line.find(' ', std::max(word, room));
            if (at == std::string_view::npos) break;
            const auto last = line.find_last_not_of(' ', at);
            const auto next = line.find_first_not_of(' ', at);
            if (last == std::string_view::npos || next == std::string_view::npos) break;
            out += begin;
            out += line.substr(0, last + 1);
            out += '\n';
            line.remove_prefix(next);
            begin.assign(std::min(first + indent, width / 2), ' ');
        }
        out += begin;
        out += line;
    }
    return out;
}

std::string reflowed(std::string_view text, std::size_t width) {
    if (width == 0) return std::string(text);
    std::string out, paragraph;
    const auto end_paragraph = [&] {
        if (!paragraph.empty()) out += wrapped(std::exchange(paragraph, {}), width) + '\n';
    };
    const bool has_end = text.ends_with('\n');
    if (has_end) text.remove_suffix(1);
    for (const auto line : split(text, '\n')) {
        if (!line.empty() && line.front() != ' ') {
            paragraph.append(line) += ' ';
            continue;
        }
        end_paragraph();
        out += fitted(line, width) + '\n';
    }
    end_paragraph();
    if (!has_end && !out.empty()) out.pop_back();
    return out;
}

std::string fitted_command(std::string_view command, std::size_t width, std::size_t indent) {
    constexpr std::string_view go_on = " \\\n";
    const auto begin = std::min(command.find_first_not_of(' '), command.size());
    std::string out(command.substr(0, begin));
    std::size_t length = begin;
    bool is_first = true;
    while (!command.empty() && command.find_first_not_of(' ') != std::string_view::npos) {
        command.remove_prefix(command.find_first_not_of(' '));
        char quote = 0;
        std::size_t end = 0;
        for (; end < command.size() && (quote != 0 || command[end] != ' '); ++end) {
            const char c = command[end];
            if (c == quote) {
                quote = 0;
            } else if (quote == 0 && (c == '\'' || c == '"')) {
                quote = c;
            }
        }
        const bool is_last = end == command.size();
        if (width > 0 && !is_first && length + 1 + end + (is_last ? 0 : 2) > width) {
            out.append(go_on).append(begin + indent, ' ');
            length = begin + indent;
        } else if (!is_first) {
            out += ' ';
            ++length;
        }
        out += command.substr(0, end);
        length += end;
        is_first = false;
        command.remove_prefix(end);
    }
    return out;
}

std::string sha256(std::string_view text) {
    std::array<char, SHA256_DIGEST_STRING_LENGTH> digest{};
    SHA256Data(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(), digest.data());
    return digest.data();
}

}  // namespace stapgen::base
