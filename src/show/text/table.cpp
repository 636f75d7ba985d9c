// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "show/text/sections.h"

namespace stapgen::show {

std::string ascii(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80) {
            out += c;
        } else {
            out += fmt::format("\\x{:02x}", byte);
        }
    }
    return out;
}

namespace {

/// A byte is a column of the screen.
std::string plain(std::string_view text) {
    return ascii(base::printable(text));
}

std::string heading_of(const Column& column) {
    return plain(column.unit.empty() ? column.name : fmt::format("{} [{}]", column.name, column.unit));
}

std::string text_of(const Cell& cell) {
    return cell.is_absent ? "-" : plain(cell.text);
}

/// A line without blanks at its end; the last column's colour may hold some.
std::string trimmed(std::string_view line) {
    const bool is_painted = line.ends_with(base::ink_end);
    if (is_painted) line.remove_suffix(base::ink_end.size());
    while (line.ends_with(' '))
        line.remove_suffix(1);
    std::string out(line);
    if (is_painted) out += base::ink_end;
    return out;
}

/// The digits of a trend as bars.
std::string bars_of(std::string_view digits) {
    std::string bars;
    for (const char digit : digits) {
        if (digit < '1' || digit > '8') {
            bars += digit == '0' ? ' ' : digit;
        } else {
            bars += "\xe2\x96";  // U+2581 to U+2588
            bars += static_cast<char>(0x80 + (digit - '0'));
        }
    }
    return bars;
}

std::size_t width_of(const Table& table, std::size_t column) {
    auto widest = heading_of(table.columns[column]).size();
    for (const auto& row : table.rows)
        widest = std::max(widest, text_of(row[column]).size());
    return widest;
}

/// Of a table those columns, side by side.
std::string grid_of(const Table& table, const std::vector<std::size_t>& shown, const base::Screen& screen) {
    std::string text;
    // `part` makes a column's text, as wide as the column, of the text that stands there.
    const auto add_line = [&](const auto& part) {
        std::string line;
        const char* separator = "";
        for (const auto i : shown)
            line += std::exchange(separator, " ") + part(i);
        text += trimmed(line) + '\n';
    };
    std::vector<std::size_t> widths(table.columns.size());
    for (const auto i : shown)
        widths[i] = width_of(table, i);
    const auto aligned = [&](const std::string& cell, std::size_t i) {
        return table.columns[i].kind == Kind::number ? fmt::format("{:>{}}", cell, widths[i])
                                                     : fmt::format("{:<{}}", cell, widths[i]);
    };
    add_line([&](std::size_t i) { return aligned(heading_of(table.columns[i]), i); });
    for (const auto& row : table.rows) {
        add_line([&](std::size_t i) {
            const auto& cell = row[i];
            auto part = aligned(text_of(cell), i);
            if (screen.utf8 && table.columns[i].extra == Extra::trend) part = bars_of(part);
            return painted(part, cell.ink, screen);
        });
    }
    return text;
}

/// The texts of the last column in as many rows as they need; nothing where that does not help.
std::optional<Table> with_last_broken(const Table& table, const std::vector<std::size_t>& shown, std::size_t width) {
    constexpr std::size_t min_room = 16;
    const auto last = shown.back();
    if (table.columns[last].kind == Kind::number) return std::nullopt;
    std::size_t used = 0;
    for (const auto i : shown) {
        if (i != last) used += width_of(table, i) + 1;
    }
    if (used + min_room > width) return std::nullopt;
    Table broken = table;
    broken.rows.clear();
    for (const auto& row : table.rows) {
        const auto lines = base::wrapped(text_of(row[last]), width - used);
        const char* separator = "";
        for (const auto line : base::split(lines, '\n')) {
            auto& next = broken.rows.emplace_back(*separator == 0 ? row : std::vector<Cell>(row.size()));
            next[last] = {.text = std::string(line), .ink = row[last].ink};
            separator = "\n";
        }
    }
    return broken;
}

/// Columns that may leave a table that is too wide, the first first: those without any value, then in their order.
std::vector<std::size_t> leaving_columns(const Table& table, std::vector<std::size_t> columns) {
    const auto is_empty = [&](std::size_t i) {
        return std::ranges::all_of(table.rows, [&](const auto& row) { return text_of(row[i]) == "-"; });
    };
    std::erase_if(columns, [&](std::size_t i) { return table.columns[i].leaves == 0 && !is_empty(i); });
    std::ranges::stable_sort(columns, {}, [&](std::size_t i) { return is_empty(i) ? 0 : table.columns[i].leaves; });
    return columns;
}

/// Each row as a record: its head, and below it the other columns with their names.
std::string records_of(const Table& table, const std::vector<std::size_t>& shown, const base::Screen& screen) {
    constexpr char joint = '\x1f';  // within what is not to be broken
    const auto head = std::ranges::find_if(shown, [&](auto i) { return table.columns[i].kind == Kind::head; });
    const auto first = head == shown.end() ? shown.front() : *head;
    std::string text;
    for (const auto& row : table.rows) {
        auto line = text_of(row[first]);
        if (!line.empty()) line.insert(0, heading_of(table.columns[first]) + ' ');
        if (!line.empty()) text += base::fitted(line, screen.width) + '\n';
        std::string pairs;
        for (const auto i : shown) {
            auto pair = text_of(row[i]);
            if (i == first || pair.empty()) continue;
            pair.insert(0, heading_of(table.columns[i]) + ' ');
            if (pair.size() + 3 <= screen.width) std::ranges::replace(pair, ' ', joint);
            pairs += (pairs.empty() ? "  " : ", ") + pair;
        }
        pairs = base::fitted(pairs, screen.width, 0);
        std::ranges::replace(pairs, joint, ' ');
        text += pairs + '\n';
    }
    return text;
}

}  // namespace

std::string painted(std::string_view text, base::Ink ink, const base::Screen& screen) {
    return screen.colours ? base::painted(text, ink) : std::string(text);
}

void write_warning(std::ostream& out, std::string_view text, const base::Screen& screen) {
    out << painted(base::fitted(fmt::format("WARNING: {}", text), screen.width), base::Ink::bad, screen) << '\n';
}

std::size_t widest_line(std::string_view text) {
    return std::ranges::max(base::split(text, '\n'), {}, &std::string_view::size).size();
}

std::string text_of(const Table& table, const base::Screen& screen, const std::set<Extra>& extras) {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto& column = table.columns[i];
        if (column.in != In::page && (!column.extra || extras.contains(*column.extra))) shown.push_back(i);
    }
    const auto is_good = [&](const Table& one) {
        return screen.width == 0 || widest_line(grid_of(one, shown, {})) <= screen.width;
    };
    if (is_good(table)) return grid_of(table, shown, screen);
    if (const auto broken = with_last_broken(table, shown, screen.width); broken && is_good(*broken))
        return grid_of(*broken, shown, screen);
    const auto all = shown;
    std::string left;
    for (const auto column : leaving_columns(table, shown)) {
        left += (left.empty() ? "" : ", ") + heading_of(table.columns[column]);
        std::erase(shown, column);
        if (is_good(table)) {
            return grid_of(table, shown, screen) +
                   base::fitted(fmt::format("not shown, as the terminal is narrow: {}\n", left), screen.width);
        }
    }
    return records_of(table, all, screen);
}

}  // namespace stapgen::show
