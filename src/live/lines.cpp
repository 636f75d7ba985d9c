#include "live/lines.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "report/text/table.h"

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

/// Takes columns of the screen from the widest that may be cut. Where that is not enough, the column of the lowest
/// priority goes.
std::vector<Place> places_of(const Grid& grid, std::vector<Place> places, std::size_t width) {
    for (;;) {
        auto cut = places;
        for (auto all = width_of_all(cut); all > width; --all) {
            const auto spare = [&](const Place& place) {
                const auto min_width = grid.columns[place.column].min_width;
                return min_width == 0 || place.width <= min_width ? 0 : place.width;
            };
            const auto widest = std::ranges::max_element(cut, {}, spare);
            if (spare(*widest) == 0) break;
            --widest->width;
        }
        if (width_of_all(cut) <= width || places.size() == 1) return cut;
        places.erase(std::ranges::min_element(places, {},
                                              [&](const Place& place) { return grid.columns[place.column].priority; }));
    }
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
    return report::ascii(base::printable(text));
}

FittedGrid fitted(const Grid& grid, std::size_t width) {
    std::vector<GridRow> rows = grid.rows;
    for (auto& row : rows)
        std::ranges::transform(row.cells, row.cells.begin(), plain_text);
    std::vector<Place> places;
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
        auto widest = width_of(grid.columns[i].name);
        for (const auto& row : rows)
            widest = std::max(widest, row.cells[i].size());
        places.push_back({i, widest});
    }
    places = places_of(grid, std::move(places), width);

    FittedGrid result;
    result.width = std::min(width, width_of_all(places));
    const auto cell = [&](const Place& place, const std::string& text) {
        return padded(cut(text, place.width), place.width, grid.columns[place.column].right);
    };
    for (const auto& place : places) {
        const auto& column = grid.columns[place.column];
        if (!result.heading.empty()) result.heading.push_back({" ", Style::heading});
        result.heading.push_back({cell(place, column.name), column.chosen ? Style::chosen : Style::heading});
    }
    result.heading = cut(result.heading, width);
    for (const auto& row : rows) {
        std::string text;
        for (const auto& place : places)
            text += (text.empty() ? "" : " ") + cell(place, row.cells[place.column]);
        result.rows.push_back({{cut(text, width), row.style}});
    }
    return result;
}

}  // namespace stapgen::live
