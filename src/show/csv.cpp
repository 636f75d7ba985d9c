// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "show/json.h"
#include "show/model/format.h"
#include "show/model/texts.h"

namespace stapgen::show {

namespace {

using table::held;
using table::Histogram;
using table::Results;
using table::Scope;
using table::Type;
using table::Value;

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

/// Takes what a cell says of whose number it is. Whether it is no number.
bool describes(const table::Column& column, const Value& value, Subject& subject) {
    if (const auto* place = held<table::Place>(value)) {
        auto without_module = *place;
        subject.module = std::exchange(without_module.module, std::nullopt).value_or("");
        subject.name = place_text(without_module);
    } else if (const auto* reason = held<table::Reason>(value)) {
        subject.reason = reason_or_empty(*reason);
    } else if (const auto* path = held<table::Path>(value)) {
        subject.name = path_text(*path);
    } else if (const auto* group = held<table::Group>(value)) {
        subject.group = *group;
    } else if (column.type == Type::time) {
        subject.time_ns = table::known<std::int64_t>(value);
    } else if (column.name == "benign") {
        subject.benign = value == Value(true) ? "true" : "false";
    } else if (is_key(column) && column.in != table::In::documents) {
        if (const auto* number = held<std::int64_t>(value); number != nullptr && column.name != "interval")
            subject.name = fmt::format("{}", *number);
        if (const auto* text = held<std::string>(value)) subject.name = *text;
    } else {
        return false;
    }
    return true;
}

class Writer {
  public:
    Writer(std::ostream& out, std::span<const Results> reports, const Options& options) : out_(out), options_(options) {
        for (const auto& report : reports) {
            for (const auto& table : report.tables)
                learn_keys(table);
        }
        out_ << "report,recipe,kind,name,module,reason,time_ns,statistic,value,benign";
        for (const auto& key : keys_)
            out_ << ',' << column_of(key);
        out_ << '\n';
    }

    void report(const Results& results) {
        ++number_;
        results_ = &results;
        recipe_ = csv_cell(table::text_of(results.fact("report", "recipe")));
        const bool has_intervals = results.at("intervals").rows.size() > 1;
        for (const auto& table : results.tables) {
            if (table.row_name.empty() || (table.scope == Scope::intervals && !has_intervals)) continue;
            if (table.shape == table::Shape::series) {
                series(results);
            } else if (table.shape == table::Shape::record || table.shape == table::Shape::fields) {
                record(table);
            } else {
                rows(table);
            }
        }
    }

  private:
    void learn_keys(const table::Table& table) {
        const auto group = table.find(Type::group);
        if (!group || table.row_name.empty()) return;
        for (const auto& row : table.rows) {
            for (const auto& field : *held<table::Group>(row[*group]))
                if (std::ranges::find(keys_, field.key) == keys_.end()) keys_.push_back(field.key);
        }
    }

    void rows(const table::Table& table) {
        const bool is_measure = table.find(Type::distribution) || table.find(Type::value_distribution);
        const bool is_part = !table.parent().empty() && table.shape == table::Shape::rows;
        for (const auto& row : table.rows) {
            Subject subject{.kind = table.row_name};
            std::vector<std::size_t> numbers;
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (is_part && i == 0) {
                    const auto of = way_of(table.parent(), row[0]);
                    subject.kind += of.empty() ? "" : "-" + csv_cell(of);
                    continue;
                }
                if (!describes(table.columns[i], row[i], subject) &&
                    (table.columns[i].in == table::In::all || table.columns[i].in == table::In::rows))
                    numbers.push_back(i);
            }
            if (table.scope == Scope::intervals) subject.kind.insert(0, "interval-");
            if (is_measure && !subject.group.empty()) subject.kind.insert(0, "group-");
            for (const auto i : numbers)
                cell(subject, table.columns[i], row[i]);
        }
    }

    /// A row for each column, whose name is that of what it counts.
    void record(const table::Table& table) {
        for (const auto& row : table.rows) {
            Subject subject{.kind = table.row_name};
            for (std::size_t i = 0; i < row.size(); ++i) {
                const auto& column = table.columns[i];
                if (column.name == "benign") describes(column, row[i], subject);
            }
            for (std::size_t i = 0; i < row.size(); ++i) {
                const auto& column = table.columns[i];
                if (column.in != table::In::all) continue;
                const bool is_count = column.name == "count";
                subject.name = is_count ? "" : column.name;
                cell(subject, {"count", column.type}, row[i]);
            }
        }
    }

    /// What the cell holds, in as many rows as it has numbers.
    void cell(const Subject& subject, const table::Column& column, const Value& value) {
        if (const auto* stats = held<Histogram>(value)) {
            distribution(subject, *stats, column.type == Type::distribution ? "_ns" : "");
        } else if (const auto* labels = held<table::Labels>(value)) {
            // "labels" -> "label:dc"
            for (const auto& [name, text] : *labels)
                put_row(subject, csv_cell(column.name.substr(0, column.name.size() - 1) + ':' + name), csv_cell(text));
        } else if (const auto* texts = held<table::Texts>(value)) {
            if (!texts->empty()) put_row(subject, csv_cell(column.name), csv_cell(base::shell_quoted(*texts)));
        } else if (const auto* text = held<std::string>(value)) {
            put_row(subject, csv_cell(column.name), csv_cell(*text));
        } else if (const auto* number = held<double>(value)) {
            put_row(subject, column.name, fmt::format("{}", *number));
        } else if (const auto* count = held<std::int64_t>(value)) {
            put_row(subject, column.name, fmt::format("{}", *count));
        } else if (const auto* flag = held<bool>(value)) {
            put_row(subject, column.name, *flag ? "1" : "0");
        } else if (!column.is_rare && column.type != Type::share && column.type != Type::text) {
            put_row(subject, column.name, "");
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
        const auto series = results.series->by_second();
        for (const auto& block : series.blocks()) {
            series_block(results.series_stages, results.at("stages"), block.stages, block.start_ns, "series", "_ns");
            series_block(results.series_values, results.at("values"), block.values, block.start_ns, "value-series", "");
        }
    }

    /// But for what has no values in any block.
    void series_block(const table::Texts& names, const table::Table& whole, const std::vector<Histogram>& histograms,
                      std::int64_t start_ns, const std::string& kind, const std::string& unit) {
        for (std::size_t i = 0; i < names.size() && i < histograms.size(); ++i) {
            // The whole precedes groups.
            const auto row =
                std::ranges::find_if(whole.rows, [&](const table::Row& of) { return of.front() == Value(names[i]); });
            const auto* all = row == whole.rows.end() ? nullptr : held<Histogram>(whole.at(*row, "distribution"));
            if (all == nullptr || all->n() == 0) continue;
            const auto& stats = histograms[i];
            const Subject subject{.kind = kind, .name = names[i], .time_ns = start_ns};
            number(subject, "n", std::optional(stats.n()));
            number(subject, "p50" + unit, stats.percentile(50));
            number(subject, "p99" + unit, stats.percentile(99));
            number(subject, "max" + unit, stats.max());
        }
    }

    /// Of the row that this is the first cell of.
    [[nodiscard]] std::string way_of(std::string_view table, const Value& number) const {
        const auto& parents = results_->at(table);
        const auto row = std::ranges::find(parents.rows, number, [](const table::Row& of) { return of.front(); });
        return row == parents.rows.end() ? "" : table::text_of(parents.at(*row, "way"));
    }

    std::ostream& out_;
    const Options& options_;
    const Results* results_ = nullptr;  ///< those that are being written
    std::vector<std::string> keys_;
    int number_ = 0;
    std::string recipe_;
};

void write_csv(std::ostream& out, const Reports& reports, const Options& options) {
    std::vector<Results> all;
    for (std::size_t i = 0; i < reports.size(); ++i)
        all.push_back(reports.results(i, options));
    Writer writer(out, all, options);
    for (const auto& results : all)
        writer.report(results);
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
extern constexpr Format csv_format{.name = "csv", .write = write_csv, .write_comparisons = write_comparisons_csv};

}  // namespace stapgen::show
