// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "show/document.h"
#include "show/model/format.h"
#include "show/model/texts.h"
#include "study/why.h"

namespace stapgen::show {

namespace {

using rows::Results;
using table::Histogram;

std::string text_of(const decltype(table::GroupField::value)& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&value)) return csv_cell(*text);
    return "true";
}

/// The column of a group's key: none has the name of another.
std::string column_of(const std::string& key) {
    constexpr std::array ours{"report", "recipe",  "kind",      "name",  "module",
                              "reason", "time_ns", "statistic", "value", "benign"};
    return csv_cell(std::ranges::find(ours, key) == ours.end() ? key : "group_" + key);
}

/// What the rows of one thing have in common.
struct Subject {
    std::string kind;
    std::string name{};
    std::string module{};
    std::string reason{};
    std::optional<std::int64_t> time_ns{};
    table::Group group{};
    std::string_view benign{};
};

/// Takes what a cell says of what a number is of. Whether it is no number.
template <class Rule, class NameOf, class Cell>
bool describes(const Cell& cell, const table::Shown& shown, Subject& subject) {
    if constexpr (std::is_same_v<Cell, table::Place>) {
        auto without_module = cell;
        subject.module = std::exchange(without_module.module, std::nullopt).value_or("");
        subject.name = place_text(without_module);
    } else if constexpr (std::is_same_v<Cell, table::Reason>) {
        subject.reason = reason_or_empty(cell);
    } else if constexpr (std::is_same_v<Cell, table::Group>) {
        subject.group = cell;
    } else if constexpr (std::is_same_v<NameOf, table::Moment>) {
        subject.time_ns = cell;
    } else if constexpr (std::is_same_v<NameOf, table::Benign>) {
        subject.benign = cell ? "true" : "false";
    } else if (table::is_key_rule<Rule> && shown.in != table::In::documents) {
        table::with_value(cell, [&]<class Value>(const Value& value) {
            if constexpr (std::is_same_v<Value, table::Path>) subject.name = path_text(value);
            if constexpr (std::is_same_v<Value, std::string>) subject.name = value;
            if constexpr (std::is_same_v<Value, std::int64_t> && std::is_same_v<Rule, table::Key>)
                subject.name = fmt::format("{}", value);
        });
    } else {
        return false;
    }
    return true;
}

template <class Row>
consteval bool is_measure() {
    bool found = false;
    table::each_column<Row>([&](auto /*rule*/, auto /*name*/, auto member, const table::Shown& /*shown*/) {
        found = found || std::is_same_v<table::CellOf<Row, decltype(member)>, table::Shared<Histogram>>;
    });
    return found;
}

/// Writes results, which are tables or one row.
class Writer {
  public:
    template <class Result>
    Writer(std::ostream& out, const std::vector<Result>& all, const Options& options) : out_(out), options_(options) {
        if constexpr (!table::is_row<Result>) {
            for (const auto& result : all)
                result.each([&](const auto& rows) { learn_keys(rows); });
        } else {
            table::each_column<Result>([&](auto /*rule*/, auto /*name*/, auto member, const table::Shown& /*shown*/) {
                if constexpr (table::is_rows<table::CellOf<Result, decltype(member)>>) {
                    for (const auto& result : all)
                        learn_keys(std::invoke(member, result));
                }
            });
        }
        out_ << "report,recipe,kind,name,module,reason,time_ns,statistic,value,benign";
        for (const auto& key : keys_)
            out_ << ',' << column_of(key);
        out_ << '\n';
    }

    template <class Row>
    void report(const Row& row) {
        ++number_;
        recipe_ = csv_cell(row.recipe);
        put_rows(std::vector{row}, Row::about.row_name);
    }
    void report(const Results& results) {
        ++number_;
        recipe_ = csv_cell(results.one<rows::Report>().recipe);
        const bool has_intervals = results.of<rows::Interval>().size() > 1;
        results.each([&]<class Row>(const table::TableOf<Row>& rows) {
            if constexpr (std::is_same_v<Row, rows::Series>) {
                series(results);
            } else {
                if (!rows::is_of_interval<Row> || has_intervals) put_rows(rows, Row::about.row_name);
            }
        });
    }

  private:
    template <class Row>
    void learn_keys(const std::vector<Row>& rows) {
        if constexpr (requires(Row row) { row.group; } && !Row::about.row_name.empty()) {
            for (const auto& row : rows) {
                for (const auto& field : row.group)
                    if (std::ranges::find(keys_, field.key) == keys_.end()) keys_.push_back(field.key);
            }
        }
    }

    /// Of a record there is a row for each column, whose name is that of what it counts. `of`: what parts are of.
    template <class Row>
    void put_rows(const std::vector<Row>& rows, std::string_view row_name, const std::string& of = {}) {
        constexpr bool is_record = Row::about.shape == table::Shape::record || Row::about.shape == table::Shape::fields;
        for (const auto& row : rows) {
            Subject subject{.kind = std::string(row_name) + (of.empty() ? "" : "-" + csv_cell(of))};
            if (!row_name.empty()) {
                each_number(row, subject, [&](auto /*name*/, const auto& /*cell*/, bool /*is_rare*/) {});
                if (rows::is_of_interval<Row>) subject.kind.insert(0, "interval-");
                if (is_measure<Row>() && !subject.group.empty()) subject.kind.insert(0, "group-");
                each_number(row, subject, [&]<class Cell>(auto name, const Cell& value, bool is_rare) {
                    if (!is_record) return cell(subject, name, value, is_rare);
                    subject.name = name.text;
                    if constexpr (std::is_same_v<Cell, table::Texts>) {
                        for (const auto& text : value)
                            put_row(subject, "text", csv_cell(text));
                    } else {
                        name.text = std::is_same_v<Cell, std::string> ? "text" : "count";
                        cell(subject, name, value, is_rare);
                    }
                });
            }
            table::each_column<Row>([&](auto /*rule*/, auto /*name*/, auto member, const table::Shown& shown) {
                using Cell = table::CellOf<Row, decltype(member)>;
                std::string way;
                if constexpr (requires { row.way; }) way = row.way;
                if constexpr (table::is_rows<Cell>) {
                    if (!shown.row_name.empty()) put_rows(std::invoke(member, row), shown.row_name, way);
                } else if constexpr (table::is_row<Cell>) {
                    put_rows(std::vector{std::invoke(member, row)}, Cell::about.row_name);
                }
            });
        }
    }

    /// Calls with each cell that is a number of the row; the others say of what.
    template <class Row>
    void each_number(const Row& row, Subject& subject, const auto& visit) {
        table::each_column<Row>([&]<class Rule>(Rule /*rule*/, auto name, auto member, const table::Shown& shown) {
            using Cell = table::CellOf<Row, decltype(member)>;
            if constexpr (!table::is_rows<Cell> && !table::is_row<Cell>) {
                if (!describes<Rule, decltype(name)>(std::invoke(member, row), shown, subject) &&
                    (shown.in == table::In::all || shown.in == table::In::rows))
                    visit(name, std::invoke(member, row), shown.is_rare);
            }
        });
    }

    /// What the cell holds, in as many rows as it has numbers.
    template <class NameOf, class Cell>
    void cell(const Subject& subject, NameOf name, const Cell& value, bool is_rare) {
        const auto column = name.text;
        if constexpr (table::is_optional<Cell>) {
            if (value) return cell(subject, name, *value, is_rare);
            constexpr bool is_left_out =
                std::is_same_v<NameOf, table::Share> || std::is_same_v<typename Cell::value_type, std::string>;
            if (!is_rare && !is_left_out) put_row(subject, column, "");
        } else if constexpr (std::is_same_v<Cell, table::Shared<Histogram>>) {
            distribution(subject, *value, std::is_same_v<NameOf, table::Ns> ? "_ns" : "");
        } else if constexpr (std::is_same_v<Cell, table::Labels>) {
            // "labels" -> "label:dc"
            for (const auto& [key, text] : value)
                put_row(subject, csv_cell(fmt::format("{}:{}", column.substr(0, column.size() - 1), key)),
                        csv_cell(text));
        } else if constexpr (std::is_same_v<Cell, table::Texts>) {
            if (!value.empty()) put_row(subject, csv_cell(column), csv_cell(base::shell_quoted(value)));
        } else if constexpr (std::is_same_v<NameOf, table::Known>) {
            if (!value.empty()) put_row(subject, csv_cell(column), csv_cell(value));
        } else if constexpr (std::is_same_v<Cell, std::string>) {
            put_row(subject, csv_cell(column), csv_cell(value));
        } else if constexpr (std::is_same_v<Cell, bool>) {
            put_row(subject, column, value ? "1" : "0");
        } else if constexpr (std::is_arithmetic_v<Cell>) {
            put_row(subject, column, fmt::format("{}", value));
        }
    }

    void put_row(const Subject& subject, std::string_view statistic, std::string_view value) {
        out_ << number_ << ',' << recipe_ << ',' << subject.kind << ',' << csv_cell(subject.name) << ','
             << csv_cell(subject.module) << ',' << csv_cell(subject.reason) << ',';
        if (subject.time_ns) out_ << *subject.time_ns;
        out_ << ',' << statistic << ',' << value << ',' << subject.benign;
        for (const auto& key : keys_) {
            out_ << ',';
            if (const auto* field = find_field(subject.group, key)) out_ << text_of(field->value);
        }
        out_ << '\n';
    }

    template <class Number>
    void number(const Subject& subject, std::string_view statistic, const std::optional<Number>& known) {
        put_row(subject, statistic, known ? fmt::format("{}", *known) : "");
    }

    void distribution(const Subject& subject, const Histogram& stats, const std::string& unit) {
        number(subject, "n", std::optional(stats.n()));
        number(subject, "sum" + unit, std::optional(stats.sum()));
        number(subject, "mean" + unit, stats.mean());
        number(subject, "stddev" + unit, stats.stddev());
        number(subject, "min" + unit, stats.min());
        for (const auto& [text, percent] : options_.percentiles) {
            const auto interval = stats.confidence(percent);
            number(subject, fmt::format("p{}{}", text, unit), stats.percentile(percent));
            number(subject, fmt::format("p{}_low{}", text, unit),
                   interval ? std::optional(interval->low) : std::nullopt);
            number(subject, fmt::format("p{}_high{}", text, unit),
                   interval ? std::optional(interval->high) : std::nullopt);
        }
        number(subject, "max" + unit, stats.max());
    }

    void series(const Results& results) {
        const auto& names = results.one<rows::Series>();
        const auto series = names.series->by_second();
        for (const auto& block : series.blocks()) {
            series_block(names.stages, results.of<rows::Stage>(), &rows::Stage::stage, block, &table::Block::stages,
                         {.kind = "series", .time_ns = block.start_ns}, "_ns");
            series_block(names.values, results.of<rows::Value>(), &rows::Value::value, block, &table::Block::values,
                         {.kind = "value-series", .time_ns = block.start_ns}, "");
        }
    }

    /// But for what has no values in any block.
    template <class Row>
    void series_block(const table::Texts& names, const std::vector<Row>& whole, std::string Row::*name_of,
                      const table::Block& block, std::vector<Histogram> table::Block::*histograms, Subject subject,
                      const std::string& unit) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            // The whole precedes groups.
            const auto row = std::ranges::find(whole, names[i], name_of);
            if (row == whole.end() || row->distribution->n() == 0) continue;
            const auto& stats = table::histogram_of(block, histograms, i);
            subject.name = names[i];
            number(subject, "n", std::optional(stats.n()));
            number(subject, "p50" + unit, stats.percentile(50));
            number(subject, "p99" + unit, stats.percentile(99));
            number(subject, "max" + unit, stats.max());
        }
    }

    std::ostream& out_;
    const Options& options_;
    std::vector<std::string> keys_;
    int number_ = 0;
    std::string recipe_;
};

void write_results(std::ostream& out, const Reports& reports, const Options& options, const auto& result_of) {
    std::vector<decltype(result_of(Results()))> all;
    for (std::size_t i = 0; i < reports.size(); ++i)
        all.push_back(result_of(reports.results(i, options)));
    Writer writer(out, all, options);
    for (const auto& result : all)
        writer.report(result);
}

void write_csv(std::ostream& out, const Reports& reports, const Options& options) {
    write_results(out, reports, options, [](Results results) { return results; });
}

void write_whys_csv(std::ostream& out, const Reports& reports, const Options& options) {
    write_results(out, reports, options, study::why_of);
}

/// A change, and of what it is one.
struct ChangeOf {
    std::string recipe;
    study::Change change;
    table::Group group;

    static constexpr table::About about{.name = "changes"};
    static constexpr void columns(auto&& column) {
        column(table::Key(), "recipe", &ChangeOf::recipe);
        column(table::Separate(), "change", &ChangeOf::change);
        column(table::Key(), "group", &ChangeOf::group);
    }
};

/// The changes.
void write_comparisons_csv(std::ostream& out, std::span<const Compared> all, const Options& /*options*/) {
    std::vector<ChangeOf> changes;
    for (const auto& [comparison, before, after] : all) {
        for (const auto& change : comparison.changes)
            changes.push_back({comparison.recipe, change, comparison.group});
    }
    put_csv(out, changes);
}

}  // namespace

/// One table (RFC 4180, UTF-8, but for lines that end with LF alone, as awk and cut want them) with one number in each
/// row, so that the first ten columns are the same whatever is measured:
///
///     report,recipe,kind,name,module,reason,time_ns,statistic,value,benign,KEY...
///
/// `report` counts the reports from 1; KEY... are the keys of the groups of all of them, with "group_" before one that
/// is called as another column. `benign` is true or false of a drop. What does not apply or is not known is an empty
/// cell. `statistic` has the unit in its name. Text from the input that a spreadsheet would take for a formula has an
/// apostrophe in front; control characters are made visible, what is no UTF-8 becomes U+FFFD. Rows of kind `origin` say
/// where the report is from: their name counts the origins, and their value is a text.
extern constexpr Format csv_format{
    .name = "csv", .write = write_csv, .write_whys = write_whys_csv, .write_comparisons = write_comparisons_csv};

}  // namespace stapgen::show
