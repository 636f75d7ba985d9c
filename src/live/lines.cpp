// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "base/text.h"
#include "show/text/sections.h"

namespace stapgen::live {

namespace {

bool begins_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

struct Place {
    std::size_t column = 0, width = 0;
};

std::size_t width_of_all(std::span<const Place> places) {
    std::size_t width = 0;
    for (const auto& place : places)
        width += place.width + (width > 0 ? 1 : 0);
    return width;
}

/// How narrow a column may be cut.
std::size_t min_width(const show::Column& column) {
    if (column.kind == show::Kind::number) return std::numeric_limits<std::size_t>::max();
    return column.in == show::In::page ? 24 : 8;
}

/// The lowest leaves first.
std::size_t rank(const show::Table& table, const Place& place) {
    const auto& column = table.columns[place.column];
    if (column.in == show::In::page) return 0;
    if (column.leaves > 0) return static_cast<std::size_t>(column.leaves);
    const auto all = table.columns.size();
    return 100 + (column.kind == show::Kind::head ? 2 * all : all - place.column);
}

/// Takes columns of the screen from the widest text. Where that is not enough, a column leaves.
std::vector<Place> places_of(const show::Table& table, std::vector<Place> places, std::size_t width) {
    for (;;) {
        auto cut = places;
        for (auto all = width_of_all(cut); all > width; --all) {
            const auto spare = [&](const Place& place) {
                return place.width <= min_width(table.columns[place.column]) ? 0 : place.width;
            };
            const auto widest = std::ranges::max_element(cut, {}, spare);
            if (spare(*widest) == 0) break;
            --widest->width;
        }
        if (width_of_all(cut) <= width || places.size() == 1) return cut;
        places.erase(std::ranges::min_element(places, {}, [&](const Place& place) { return rank(table, place); }));
    }
}

/// A cell's text; a count with commas.
std::string text_of(const show::Cell& cell, show::Kind kind) {
    const bool is_count = kind == show::Kind::number && base::is_decimal(cell.text);
    const auto count = is_count ? base::to_int(cell.text) : std::nullopt;
    return count ? base::with_commas(*count) : plain_text(cell.text);
}

Style style_of(const std::vector<show::Cell>& row) {
    const auto has = [&](base::Ink ink) { return std::ranges::find(row, ink, &show::Cell::ink) != row.end(); };
    if (has(base::Ink::bad)) return Style::alert;
    if (has(base::Ink::strong)) return Style::chosen;
    const bool is_benign = std::ranges::find(row, "benign", &show::Cell::mark) != row.end();
    return is_benign ? Style::faint : Style::plain;
}

constexpr std::array<std::string_view, 8> blocks{"\u2581", "\u2582", "\u2583", "\u2584",
                                                 "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr std::array<std::string_view, 8> letters{".", ":", "-", "=", "+", "*", "#", "@"};

/// "10us", "1k".
std::string power_text(int power, bool is_time) {
    constexpr std::array<std::string_view, 7> times{"ns", "us", "ms", "s", "ks", "Ms", "Gs"};
    constexpr std::array<std::string_view, 7> numbers{"", "k", "M", "G", "T", "P", "E"};
    constexpr std::array<int, 3> factors{1, 10, 100};
    const auto thousands = static_cast<std::size_t>(power / 3);
    return fmt::format("{}{}", factors[static_cast<std::size_t>(power % 3)],
                       is_time ? times[thousands] : numbers[thousands]);
}

int power_below(std::int64_t number) {
    return static_cast<int>(std::floor(std::log10(static_cast<double>(std::max<std::int64_t>(number, 1)))));
}

}  // namespace

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::size_t width_of(const Line& line) {
    std::size_t width = 0;
    for (const auto& span : line)
        width += width_of(span.text);
    return width;
}

std::string cut(std::string_view text, std::size_t columns) {
    if (width_of(text) <= columns) return std::string(text);
    if (columns == 0) return {};
    std::size_t width = 0, end = 0;
    for (; end < text.size(); ++end) {
        if (begins_character(text[end]) && ++width == columns) break;
    }
    return std::string(text.substr(0, end)) + '~';
}

Line cut(const Line& line, std::size_t columns) {
    if (width_of(line) <= columns) return line;
    Line shorter;
    for (const auto& [text, style] : line) {
        const auto width = width_of(text);
        if (width >= columns) {
            // More follows, or this one is too long.
            shorter.push_back({cut(width > columns ? text : text + ' ', columns), style});
            break;
        }
        shorter.push_back({text, style});
        columns -= width;
    }
    return shorter;
}

std::string padded(std::string_view text, std::size_t columns, bool right) {
    const auto width = width_of(text);
    const std::string blanks(columns - std::min(width, columns), ' ');
    return right ? blanks + std::string(text) : std::string(text) + blanks;
}

std::string plain_text(std::string_view text) {
    return show::ascii(base::printable(text));
}

FittedTable fitted(const show::Table& table, std::size_t width, std::optional<std::size_t> chosen) {
    std::vector<Place> places;
    std::vector<std::vector<std::string>> texts(table.rows.size());
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto& column = table.columns[i];
        auto widest = plain_text(column.name).size();
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            texts[row].push_back(text_of(table.rows[row][i], column.kind));
            widest = std::max(widest, texts[row].back().size());
        }
        if (column.in != show::In::text) places.push_back({i, widest});
    }
    places = places_of(table, std::move(places), width);

    FittedTable result;
    result.width = std::min(width, width_of_all(places));
    const auto cell = [&](const Place& place, const std::string& text) {
        return padded(cut(text, place.width), place.width, table.columns[place.column].kind == show::Kind::number);
    };
    for (const auto& place : places) {
        if (!result.heading.empty()) result.heading.push_back({" ", Style::heading});
        result.heading.push_back({cell(place, plain_text(table.columns[place.column].name)),
                                  place.column == chosen ? Style::chosen : Style::heading});
    }
    result.heading = cut(result.heading, width);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        std::string text;
        for (const auto& place : places)
            text += (text.empty() ? "" : " ") + cell(place, texts[row][place.column]);
        result.rows.push_back({{cut(text, width), style_of(table.rows[row])}});
    }
    return result;
}

Scale::Scale(std::int64_t least, std::int64_t most, std::size_t columns)
    : first_(power_below(least)), last_(std::max(first_, power_below(most)) + 1) {
    for (std::size_t i = 0; i < columns; ++i) {
        const double power = first_ + (last_ - first_) * static_cast<double>(i) / static_cast<double>(columns);
        lowest_.push_back(static_cast<std::int64_t>(std::ceil(std::pow(10.0, power) - 1e-6)));
    }
}

std::string Scale::labels(bool is_time) const {
    std::string text;
    for (int power = first_; power < last_; ++power) {
        const auto column =
            static_cast<std::size_t>(power - first_) * columns() / static_cast<std::size_t>(last_ - first_);
        const auto label = power_text(power, is_time);
        if ((!text.empty() && text.size() >= column) || column + label.size() > columns()) continue;
        text.resize(column, ' ');
        text += label;
    }
    return text;
}

std::string distribution(const table::Histogram& stats, const Scale& scale, bool utf8) {
    std::vector<std::int64_t> counts(scale.columns());
    counts.front() = stats.below();
    counts.back() = stats.above();
    std::size_t column = 0;
    stats.for_each_bin([&](int bin, std::int64_t count) {
        const auto value = table::bins::middle(bin);
        while (column + 1 < counts.size() && value >= scale.lowest(column + 1))
            ++column;
        counts[column] += count;
    });
    const auto highest = std::max<std::int64_t>(1, std::ranges::max(counts));
    const auto& steps = utf8 ? blocks : letters;
    std::string text;
    for (const auto count : counts) {
        const auto part = static_cast<double>(count) / static_cast<double>(highest);
        const auto eighths = static_cast<std::size_t>(std::ceil(part * 8));
        text += eighths == 0 ? std::string_view(" ") : steps[eighths - 1];
    }
    return text;
}

}  // namespace stapgen::live
