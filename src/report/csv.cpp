// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "report/json.h"
#include "report/model/account_text.h"
#include "report/model/report.h"

namespace stapgen::report {

namespace {

using analyze::Group;
using analyze::Measure;
using analyze::Summary;
using table::Histogram;

std::string text_of(const decltype(analyze::GroupField::value)& value) {
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
    std::string_view kind;
    std::string name;
    std::string module{};
    std::string reason{};
    std::optional<std::int64_t> time_ns{};
    Group group{};
    std::string_view benign{};
};

class Writer {
  public:
    Writer(std::ostream& out, std::span<const Summary> reports, const Options& options) : out_(out), options_(options) {
        const auto learn = [this](const auto& rows) {
            for (const auto& row : rows) {
                for (const auto& field : row.group)
                    if (std::ranges::find(keys_, field.key) == keys_.end()) keys_.push_back(field.key);
            }
        };
        for (const auto& report : reports) {
            learn(report.stages);
            learn(report.values);
            learn(report.tallies);
            learn(report.drops);
        }
        out_ << "report,recipe,kind,name,module,reason,time_ns";
        for (const auto& key : keys_)
            out_ << ',' << column_of(key);
        out_ << ",statistic,value,benign\n";
    }

    void report(const Summary& summary) {
        ++number_;
        recipe_ = csv_cell(summary.recipe);
        origins(summary);
        const Report report(summary, options_);
        for (const auto& row : report.stages.all)
            measure(row, "stage", "_ns");
        for (const auto& row : report.values.all)
            measure(row, "value", "");
        for (const auto& average : summary.averages) {
            const Subject subject{"average", average.name};
            const std::string unit = average.is_time ? "_ns" : "";
            row(subject, "n", average.n);
            row(subject, "mean" + unit, average.mean);
            row(subject, "error" + unit, average.error);
        }
        for (const auto& direction : report.directions)
            tail(direction);
        series(summary);
        drops(report);
        tallies(report);
        accounting(summary);
    }

  private:
    /// Of each what is known: the origin is the name, and what it says of itself the value.
    void origins(const Summary& summary) {
        std::int64_t number = 0;
        for (const auto& origin : summary.origins) {
            const auto name = fmt::format("{}", ++number);
            for (const auto& [what, text] : origin_texts(origin))
                row(Subject{"origin", name}, csv_cell(what), text);
        }
    }

    template <class Number>
    void row(const Subject& subject, std::string_view statistic, const Number& number) {
        out_ << number_ << ',' << recipe_ << ',' << subject.kind << ',' << csv_cell(subject.name) << ','
             << csv_cell(subject.module) << ',' << csv_cell(subject.reason) << ',';
        if (subject.time_ns) out_ << *subject.time_ns;
        for (const auto& key : keys_) {
            out_ << ',';
            if (const auto* field = find_field(subject.group, key)) out_ << text_of(field->value);
        }
        out_ << ',' << statistic << ',';
        put(number);
        out_ << ',' << subject.benign << '\n';
    }

    void put(const std::string& text) { out_ << csv_cell(text); }
    void put(std::int64_t number) { out_ << number; }
    void put(double number) { out_ << fmt::format("{}", number); }
    template <class T>
    void put(const std::optional<T>& number) {
        if (number) put(*number);
    }

    void measure(const Row& of, std::string_view kind, const std::string& unit) {
        const auto& measure = *of.measure;
        const auto& stats = measure.stats;
        const std::string group_kind = "group-" + std::string(kind);
        const Subject subject{
            .kind = measure.group.empty() ? kind : group_kind, .name = measure.name, .group = measure.group};
        row(subject, "n", stats.n());
        row(subject, "sum" + unit, stats.sum());
        if (of.share) row(subject, "share", of.share);
        row(subject, "mean" + unit, stats.mean());
        row(subject, "stddev" + unit, stats.stddev());
        row(subject, "min" + unit, stats.min());
        for (const auto& [text, percent] : options_.percentiles) {
            const auto interval = stats.confidence(percent);
            row(subject, fmt::format("p{}{}", text, unit), stats.percentile(percent));
            row(subject, fmt::format("p{}_low{}", text, unit), interval ? std::optional(interval->low) : std::nullopt);
            row(subject, fmt::format("p{}_high{}", text, unit),
                interval ? std::optional(interval->high) : std::nullopt);
        }
        row(subject, "max" + unit, stats.max());
    }

    void tail(const DirectionReport& direction) {
        if (!direction.tail) return;
        const auto& name = direction.breakdown.direction();
        const auto kind = name.empty() ? "tail" : "tail-" + csv_cell(name);
        for (const auto& share : direction.tail->shares) {
            const Subject subject{kind, share.stage};
            row(subject, "slow_mean_ns", share.slow_mean_ns);
            row(subject, "rest_mean_ns", share.rest_mean_ns);
            row(subject, "slow_share", share.slow);
            row(subject, "rest_share", share.rest);
            row(subject, "excess_share", share.of_excess);
        }
    }

    void series(const Summary& summary) {
        const auto by_second = summary.series.by_second();
        for (const auto& block : by_second.blocks()) {
            series_block(summary.stages, block.stages, block.start_ns, "series", "_ns");
            series_block(summary.values, block.values, block.start_ns, "value-series", "");
        }
    }

    void series_block(const std::vector<Measure>& measures, const std::vector<Histogram>& histograms,
                      std::int64_t start_ns, std::string_view kind, const std::string& unit) {
        std::size_t place = 0;
        for (const auto* measure : in_series(measures)) {
            if (place == histograms.size()) break;
            const auto& stats = histograms[place++];
            if (measure->stats.n() == 0) continue;
            const Subject subject{.kind = kind, .name = measure->name, .time_ns = start_ns};
            row(subject, "n", stats.n());
            row(subject, "p50" + unit, stats.percentile(50));
            row(subject, "p99" + unit, stats.percentile(99));
            row(subject, "max" + unit, stats.max());
        }
    }

    void drops(const Report& report) {
        const auto write = [this](std::string_view kind, analyze::Drop drop) {
            const std::string_view benign = advice_of(drop).benign ? "true" : "false";
            const auto module = drop.module.value_or("");
            drop.module.reset();
            row(Subject{.kind = kind,
                        .name = place_text(drop),
                        .module = module,
                        .reason = reason_or_empty(drop),
                        .time_ns = drop.end_epoch_ns,
                        .group = drop.group,
                        .benign = benign},
                "count", drop.count);
        };
        for (const auto& drop : report.drops.rows)
            write("drop", drop);
        if (report.drops.hidden_rows > 0)
            row(Subject{.kind = "drops-not-shown", .name = {}, .benign = "true"}, "count", report.drops.hidden);
        for (const auto& stack : analyze::total_stacks(report.summary)) {
            row(Subject{.kind = "stack", .name = path_text(stack), .reason = reason_or_empty(stack)}, "count",
                stack.count);
        }
        if (report.summary.intervals.size() < 2) return;
        for (const auto& drop : report.interval_drops.rows)
            write("interval-drop", drop);
    }

    void tallies(const Report& report) {
        const auto& summary = report.summary;
        const auto write = [&](std::string_view kind, const analyze::Tally& tally) {
            row(Subject{.kind = kind, .name = summary.counted, .time_ns = tally.end_epoch_ns, .group = tally.group},
                "count", tally.count);
        };
        for (const auto& tally : report.counts)
            write("count", tally);
        if (summary.intervals.size() < 2) return;
        for (const auto& tally : summary.tallies)
            write("interval-count", tally);
    }

    void counts(std::string_view kind, const std::vector<analyze::Cause>& causes) {
        for (const auto& [name, count] : causes)
            row(Subject{kind, name}, "count", count);
    }

    void accounting(const Summary& summary) {
        const auto& accounting = summary.accounting;
        counts("account", {{"seen", accounting.seen},
                           {"reported", accounting.reported},
                           {"filtered", accounting.filtered},
                           {"incomplete", accounting.incomplete_total()},
                           {"lost", accounting.lost_total()},
                           {"unaccounted", accounting.unaccounted()},
                           {"closed", accounting.closed ? 1 : 0}});
        counts("incomplete", accounting.incomplete);
        counts("lost", accounting.lost);
        counts("other", accounting.other);
        counts("transport", {{"skipped_probes", summary.transport.skipped_probes},
                             {"probe_errors", summary.transport.probe_errors},
                             {"transport_failures", summary.transport.transport_failures}});
        counts("skipped", summary.transport.skipped_by);
        for (const auto& counter : summary.counters)
            row(Subject{"counter", counter.name}, "count", counter.count);
        counts("input", {{"lines", summary.input.lines},
                         {"recognised", summary.input.recognised},
                         {"unrecognised", summary.input.unrecognised}});
    }

    std::ostream& out_;
    const Options& options_;
    std::vector<std::string> keys_;
    int number_ = 0;
    std::string recipe_;
};

void write_csv(std::ostream& out, std::span<const Summary> reports, const Options& options) {
    Writer writer(out, reports, options);
    for (const auto& report : reports)
        writer.report(report);
}

}  // namespace

/// One table (RFC 4180, UTF-8, but for lines that end with LF alone, as awk and cut want them) with one number in each
/// row, so that columns stay the same whatever the percentiles:
///
///     report,recipe,kind,name,module,reason,time_ns,KEY...,statistic,value,benign
///
/// `report` counts the reports from 1; KEY... are the keys of the groups of all of them, with "group_" before one that
/// is called as another column. `benign` is true or false of a drop. What does not apply or is not known is an empty
/// cell. `statistic` has the unit in its name. Text from the input that a spreadsheet would take for a formula has an
/// apostrophe in front; control characters are made visible, what is no UTF-8 becomes U+FFFD. Rows of kind `origin` say
/// where the report is from: their name counts the origins, and their value is a text.
extern constexpr Format csv_format{.name = "csv", .write = write_csv, .write_comparisons = write_comparisons_csv};

}  // namespace stapgen::report
