// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <libsmartcols.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "base/text.h"
#include "report/text/sections.h"

namespace stapgen::report {

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

std::string text_of(const Table& table, const std::set<Extra>& extras) {
    // ASCII only: in the C locale libsmartcols (2.38) never comes back from another byte.
    const auto plain = [](std::string_view text) { return ascii(base::printable(text)); };
    const std::unique_ptr<libscols_table, decltype(&scols_unref_table)> grid(scols_new_table(), scols_unref_table);
    if (!grid) throw std::bad_alloc();
    scols_table_set_termforce(grid.get(), SCOLS_TERMFORCE_NEVER);
    // Cells are printable already; its own encoding would escape the backslash of our \x1b once more.
    scols_table_enable_noencoding(grid.get(), 1);
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const auto& [name, kind, in, extra, unit] = table.columns[i];
        if (in == In::page || (extra && !extras.contains(*extra))) continue;
        shown.push_back(i);
        const auto heading = unit.empty() ? name : fmt::format("{} [{}]", name, unit);
        scols_table_new_column(grid.get(), plain(heading).c_str(), 0, kind == Kind::number ? SCOLS_FL_RIGHT : 0);
    }
    for (const auto& row : table.rows) {
        auto* line = scols_table_new_line(grid.get(), nullptr);
        if (line == nullptr) throw std::bad_alloc();
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const auto& cell = row[shown[i]];
            scols_line_set_data(line, i, cell.is_absent ? "-" : plain(cell.text).c_str());
        }
    }
    char* printed = nullptr;
    if (scols_print_table_to_string(grid.get(), &printed) != 0) throw std::bad_alloc();
    const std::unique_ptr<char, decltype(&std::free)> owner(printed, std::free);

    std::string text;
    std::string_view rest(printed);
    while (rest.ends_with('\n'))
        rest.remove_suffix(1);
    for (auto line : base::split(rest, '\n')) {
        while (line.ends_with(' '))
            line.remove_suffix(1);
        text += line;
        text += '\n';
    }
    return text;
}

}  // namespace stapgen::report
