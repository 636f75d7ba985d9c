// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <type_traits>

#include "base/text.h"
#include "cli/help/help.h"
#include "rows/results.h"

namespace stapgen::cli {

namespace {

using table::Shape;

/// The type of a cell, as documents write it.
template <class NameOf, class Cell>
constexpr std::string_view type_text() {
    constexpr bool is_ns = std::is_same_v<NameOf, table::Ns>;
    if constexpr (table::is_optional<Cell>) return type_text<NameOf, typename Cell::value_type>();
    if constexpr (std::is_same_v<NameOf, table::Moment>) return "time";
    if constexpr (std::is_base_of_v<table::Mean, NameOf>) return "mean";
    if constexpr (std::is_same_v<NameOf, table::Share>) return "part, 0 to 1";
    if constexpr (std::is_same_v<Cell, bool>) return "true or false";
    if constexpr (std::is_same_v<Cell, std::int64_t>) return is_ns ? "ns" : "count";
    if constexpr (std::is_same_v<Cell, double>) return "number";
    if constexpr (std::is_same_v<Cell, std::string>) return "text";
    if constexpr (std::is_same_v<Cell, table::Texts>) return "texts";
    if constexpr (std::is_same_v<Cell, table::Labels>) return "text by name";
    if constexpr (std::is_same_v<Cell, table::Place>) return "symbol, offset, module, address";
    if constexpr (std::is_same_v<Cell, table::Reason>) return "reason, reason_number";
    if constexpr (std::is_same_v<Cell, table::Shared<table::Path>>) return "places, innermost first";
    if constexpr (std::is_same_v<Cell, table::Group>) return "keys of a group";
    if constexpr (std::is_same_v<Cell, table::Durations>) return "ns by stage";
    if constexpr (std::is_same_v<Cell, table::Shared<table::Histogram>>)
        return is_ns ? "distribution of ns" : "distribution";
    return "";
}

template <class Rule>
constexpr std::string_view rule_text() {
    if constexpr (table::is_key_rule<Rule>) return "key";
    if constexpr (std::is_same_v<Rule, table::Sum>) return "added up";
    if constexpr (std::is_same_v<Rule, table::Smallest>) return "the smallest";
    if constexpr (std::is_same_v<Rule, table::Largest>) return "the largest";
    if constexpr (std::is_same_v<Rule, table::First>) return "the first known";
    if constexpr (std::is_same_v<Rule, table::Same>) return "worked out anew";
    if constexpr (std::is_same_v<Rule, table::Separate>) return "rows stay apart";
    return "";
}

constexpr std::string_view suffix_of(Shape shape) {
    return shape == Shape::rows || shape == Shape::list ? "[]" : "";
}

/// The columns of a table and of those in its rows, if its name begins like that. `heading`: "tail[].stages[]", where a
/// document has it.
template <class Row>
void put_table(const std::string& name, const std::string& heading, std::string_view wanted, std::string& out) {
    const bool is_wanted = name.starts_with(wanted);
    if (is_wanted) out += fmt::format("{}{}\n", out.empty() ? "" : "\n", heading);
    std::string parts;
    table::each_column<Row>(
        [&]<class Rule, class NameOf>(Rule /*rule*/, NameOf column, auto member, const table::Shown& shown) {
            using Cell = table::CellOf<Row, decltype(member)>;
            if (shown.in == table::In::rows || shown.in == table::In::hidden) return;
            const auto prefix = name + '.' + std::string(column.text);
            if constexpr (table::is_rows<Cell>) {
                using Part = typename Cell::value_type;
                const auto in = heading.substr(0, heading.find(": "));
                put_table<Part>(prefix, fmt::format("{}.{}{}", in, column.text, suffix_of(Part::about.shape)), wanted,
                                parts);
            } else if constexpr (table::is_row<Cell>) {
                put_table<Cell>(prefix, heading + ": more keys", wanted, parts);
            } else if (is_wanted) {
                out += fmt::format("  {:<20} {:<32} {}\n", std::string(column.text) + (shown.is_rare ? "?" : ""),
                                   type_text<NameOf, Cell>(), rule_text<Rule>());
            }
        });
    if (!out.empty() && !parts.empty()) out += '\n';
    out += parts;
}

}  // namespace

base::Result<std::string> results_text(const std::vector<std::string>& words) {
    if (words.size() > 1) return base::bad_input("results: one table only", "stapgen help results");
    std::string out;
    rows::Results().each([&]<class Row>(const table::TableOf<Row>& /*rows*/) {
        constexpr auto shape = Row::about.shape;
        if constexpr (shape != Shape::none && shape != Shape::series) {
            const std::string name(Row::about.name);
            put_table<Row>(name,
                           name + (shape == Shape::fields ? ": keys of the document" : std::string(suffix_of(shape))),
                           words.empty() ? "" : words.front(), out);
        }
    });
    if (out.empty()) {
        return base::bad_input(fmt::format("results: there is no table '{}'", base::printable(words.front())),
                               "'stapgen help results' has all");
    }
    if (words.empty()) {
        out += '\n' +
               base::wrapped(
                   "Rows of several recordings that have the same keys become one, whose other cells are as "
                   "the last column says. A distribution has the keys n, sum, mean, stddev, min, max, "
                   "percentiles and percentiles_ci, of ns with _ns. Documents have a place, a reason and a "
                   "distribution as keys of the row. Times are RFC 3339 in UTC. CSV, OpenMetrics and the store "
                   "have the same columns.",
                   base::default_width) +
               '\n';
    }
    return out;
}

}  // namespace stapgen::cli
