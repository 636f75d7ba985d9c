// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <iostream>
#include <string_view>

namespace stapgen::cli {

/// Writes an answer by write_json(), write_csv() or, where there is one, write_html() of its namespace; as a table by
/// `write_table`.
template <class Answer>
void write_answer(std::string_view format, const Answer& answer, const auto& write_table) {
    if (format == "json") return write_json(std::cout, answer);
    if (format == "csv") return write_csv(std::cout, answer);
    if constexpr (requires { write_html(std::cout, answer); })
        if (format == "html") return write_html(std::cout, answer);
    write_table();
}

}  // namespace stapgen::cli
