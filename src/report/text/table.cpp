#include "report/text/table.h"

#include <fmt/format.h>
#include <libsmartcols.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "base/text.h"

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

std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
    // ASCII only: in the C locale libsmartcols (2.38) never comes back from another byte.
    const std::unique_ptr<libscols_table, decltype(&scols_unref_table)> grid(scols_new_table(), scols_unref_table);
    if (!grid) throw std::bad_alloc();
    scols_table_set_termforce(grid.get(), SCOLS_TERMFORCE_NEVER);
    // Cells are printable already; its own encoding would escape the backslash of our \x1b once more.
    scols_table_enable_noencoding(grid.get(), 1);
    for (const auto& [name, align] : columns) {
        scols_table_new_column(grid.get(), ascii(name).c_str(), 0, align == Align::right ? SCOLS_FL_RIGHT : 0);
    }
    for (const auto& row : rows) {
        auto* line = scols_table_new_line(grid.get(), nullptr);
        if (line == nullptr) throw std::bad_alloc();
        for (std::size_t i = 0; i < row.size(); ++i)
            scols_line_set_data(line, i, ascii(row[i]).c_str());
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
