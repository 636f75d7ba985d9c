// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "analyze/results.h"
#include "base/text.h"
#include "cli/help/help.h"

namespace stapgen::cli {

namespace {

using table::Column;
using table::Meet;
using table::Shape;
using table::Table;
using table::Type;

/// What is in a cell, as documents write it.
std::string_view type_text(Type type) {
    switch (type) {
        case Type::flag:
            return "true or false";
        case Type::count:
            return "count";
        case Type::duration:
            return "ns";
        case Type::mean:
            return "mean";
        case Type::share:
            return "part, 0 to 1";
        case Type::number:
            return "number";
        case Type::time:
            return "time";
        case Type::text:
            return "text";
        case Type::texts:
            return "texts";
        case Type::labels:
            return "text by name";
        case Type::place:
            return "symbol, offset, module, address";
        case Type::reason:
            return "reason, reason_number";
        case Type::path:
            return "places, innermost first";
        case Type::group:
            return "keys of a group";
        case Type::durations:
            return "ns by stage";
        case Type::distribution:
            return "distribution of ns";
        case Type::value_distribution:
            return "distribution";
        case Type::breakdown:
        case Type::series:
        case Type::average:
        case Type::tracks:
            break;  // of what was measured; no document has them
    }
    return "";
}

std::string_view meet_text(Meet meet) {
    switch (meet) {
        case Meet::key:
        case Meet::goes_on:
            return "key";
        case Meet::add:
            return "added up";
        case Meet::smallest:
            return "the smallest";
        case Meet::largest:
            return "the largest";
        case Meet::first:
            return "the first known";
        case Meet::same:
            return "worked out anew";
        case Meet::never:
            return "rows stay apart";
    }
    return "";
}

/// "tail[].stages[]": where a document has it.
std::string heading_of(const Table& table, const table::Results& results) {
    const auto suffix = [](const Table& of) {
        return of.shape == Shape::rows || of.shape == Shape::list ? "[]"
               : of.shape == Shape::fields && of.parent().empty() ? ": keys of the document"
                                                                  : "";
    };
    if (table.parent().empty()) return table.name + suffix(table);
    const auto& parent = results.at(table.parent());
    if (table.shape == Shape::fields) return fmt::format("{}: more keys", parent.name);
    return fmt::format("{}{}.{}{}", parent.name, suffix(parent), table.name.substr(parent.name.size() + 1),
                       suffix(table));
}

bool is_documented(const Table& table) {
    return table.scope != table::Scope::whole && table.shape != Shape::none && table.shape != Shape::series;
}

}  // namespace

base::Result<std::string> results_text(const std::vector<std::string>& words) {
    if (words.size() > 1) return base::bad_input("results: one table only", "stapgen help results");
    const kinds::Measured nothing;
    const auto results = analyze::results_of(nothing);
    std::string out;
    for (const auto& table : results.tables) {
        const bool is_wanted = words.empty() || table.name.starts_with(words.front());
        if (!is_documented(table) || !is_wanted) continue;
        out += fmt::format("{}{}\n", out.empty() ? "" : "\n", heading_of(table, results));
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            const auto& column = table.columns[i];
            // A part has no key of the row that it is part of.
            const bool is_of_parent =
                i == 0 && results.at(table.parent()).shape == Shape::rows && !table.parent().empty();
            if (column.in == table::In::rows || column.in == table::In::people || is_of_parent) continue;
            out += fmt::format("  {:<20} {:<32} {}\n", column.name + (column.is_rare ? "?" : ""),
                               type_text(column.type), meet_text(column.meet));
        }
    }
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
