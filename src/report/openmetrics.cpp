#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "report/model/report.h"

namespace stapgen::report {

namespace {

namespace bins = analyze::bins;
using analyze::Histogram;
using analyze::Measure;
using analyze::Summary;

std::string label_escaped(std::string_view raw) {
    std::string text;
    for (const char c : base::printable(raw)) {
        if (c == '\\' || c == '"') text += '\\';
        text += c;
    }
    return text;
}

/// A field's name as a label's. Letters, digits and _; those that the format or this file use are set apart.
std::string label_name(std::string_view key) {
    std::string name;
    for (const char c : key)
        name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    const bool taken = name == "recipe" || name == "stage" || name == "value" || name == "le" || name == "counted" ||
                       name == "quantile";
    if (taken || name.empty() || (name[0] >= '0' && name[0] <= '9') || name.starts_with("__")) name.insert(0, "group_");
    return name;
}

/// `a="b",c="d"`.
std::string labels(std::initializer_list<std::pair<std::string_view, std::string_view>> pairs,
                   const analyze::Group& group = {}) {
    std::string text;
    for (const auto& [name, value] : pairs)
        text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, label_escaped(value));
    for (const auto& [key, value] : group) {
        std::string content = "true";
        if (const auto* number = std::get_if<std::int64_t>(&value)) content = fmt::format("{}", *number);
        if (const auto* name = std::get_if<std::string>(&value)) content = label_escaped(*name);
        text += fmt::format(",{}=\"{}\"", label_name(key), content);
    }
    return text;
}

/// One family of metrics: what is to be written, by labels. Equal labels add up.
template <class T>
using Family = std::map<std::string, T>;
using CountFamily = Family<std::int64_t>;
using HistogramFamily = Family<Histogram>;

void add_count(CountFamily& counts, const std::string& labels, std::int64_t count) {
    auto& sum = counts[labels];
    sum = base::saturating_add(sum, std::max<std::int64_t>(count, 0));
}

void write_head(std::ostream& out, std::string_view name, std::string_view type, std::string_view unit,
                std::string_view help) {
    out << "# TYPE " << name << ' ' << type << '\n';
    if (!unit.empty()) out << "# UNIT " << name << ' ' << unit << '\n';
    out << "# HELP " << name << ' ' << help << '\n';
}

void write_counter(std::ostream& out, std::string_view name, std::string_view help, const CountFamily& counts) {
    if (counts.empty()) return;
    write_head(out, name, "counter", "", help);
    for (const auto& [labels, count] : counts)
        out << name << "_total{" << labels << "} " << count << '\n';
}

/// The upper ends of the histograms' buckets in ns, inclusive, the same in every run: four to each doubling from 1 us
/// to 68.7 s. Each is one below a border of bins.h, so that the counts are exact.
const std::vector<std::int64_t>& bucket_ends() {
    static const auto ends = [] {
        constexpr int per_doubling = 4;
        constexpr std::int64_t first = 1 << 10, last = std::int64_t{1} << 36;
        std::vector<std::int64_t> all;
        for (int bin = bins::index_of(first); bins::lowest(bin) <= last; bin += bins::per_doubling / per_doubling)
            all.push_back(bins::lowest(bin) - 1);
        return all;
    }();
    return ends;
}

void write_buckets(std::ostream& out, std::string_view name, const std::string& labels, const Histogram& stats) {
    const auto& ends = bucket_ends();
    std::vector<std::int64_t> counts(ends.size());
    stats.for_each_bin([&](int bin, std::int64_t count) {
        const auto bucket = std::ranges::lower_bound(ends, bins::lowest(bin + 1) - 1);
        if (bucket != ends.end()) counts[static_cast<std::size_t>(bucket - ends.begin())] += count;
    });
    std::int64_t sum = stats.below();
    for (std::size_t i = 0; i < ends.size(); ++i) {
        sum += counts[i];
        out << fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, static_cast<double>(ends[i]) / 1e9, sum);
    }
    out << fmt::format("{}_bucket{{{},le=\"+Inf\"}} {}\n", name, labels, stats.n());
    out << fmt::format("{}_sum{{{}}} {}\n", name, labels, stats.sum() / 1e9);
    out << fmt::format("{}_count{{{}}} {}\n", name, labels, stats.n());
}

void write_histograms(std::ostream& out, std::string_view name, std::string_view help,
                      const HistogramFamily& histograms) {
    if (histograms.empty()) return;
    write_head(out, name, "histogram", "seconds", help);
    for (const auto& [labels, stats] : histograms)
        write_buckets(out, name, labels, stats);
}

struct Sum {
    std::int64_t n = 0;
    double sum = 0;
};

void write_sums(std::ostream& out, std::string_view name, std::string_view unit, std::string_view help,
                const Family<Sum>& sums) {
    if (sums.empty()) return;
    write_head(out, name, "summary", unit, help);
    for (const auto& [labels, of] : sums) {
        out << fmt::format("{}_sum{{{}}} {}\n", name, labels, of.sum);
        out << fmt::format("{}_count{{{}}} {}\n", name, labels, of.n);
    }
}

/// All families, collected before they are written: the samples of one must stand together.
struct Families {
    HistogramFamily stages, groups;
    Family<Sum> values, average_times;
    CountFamily drops, tallies, seen, records, other, losses, counters, lines, not_closed;

    void add_report(const Summary& report, const Options& options) {
        const Report rows(report, options);
        const auto& recipe = report.recipe;
        for (const auto& [name, group, stats] : report.stages) {
            if (group.empty()) stages[labels({{"recipe", recipe}, {"stage", name}})] += stats;
        }
        for (const auto& row : rows.stages.groups)
            add_group(recipe, *row.measure);
        for (const auto& [name, group, stats] : report.values) {
            if (group.empty()) add_sum(values, labels({{"recipe", recipe}, {"value", name}}), {stats.n(), stats.sum()});
        }
        for (const auto& [name, is_time, n, mean, error] : report.averages) {
            const double sum = mean * static_cast<double>(n);
            if (is_time) {
                add_sum(average_times, labels({{"recipe", recipe}, {"stage", name}}), {n, sum / 1e9});
            } else {
                add_sum(values, labels({{"recipe", recipe}, {"value", name}}), {n, sum});
            }
        }
        add_counts(rows);
    }

  private:
    void add_group(const std::string& recipe, const Measure& measure) {
        if (measure.stats.n() == 0) return;
        groups[labels({{"recipe", recipe}, {"stage", measure.name}}, measure.group)] += measure.stats;
    }

    static void add_sum(Family<Sum>& sums, const std::string& labels, const Sum& more) {
        auto& sum = sums[labels];
        sum.n = base::saturating_add(sum.n, more.n);
        sum.sum += more.sum;
    }

    void add_counts(const Report& rows) {
        const auto& report = rows.summary;
        const auto& recipe = report.recipe;
        for (auto drop : analyze::total_drops(report)) {
            const std::string_view benign = advice_of(drop).benign ? "true" : "false";
            const auto module = std::exchange(drop.module, std::nullopt).value_or("");
            const auto reason = reason_text(drop) == "-" ? "" : reason_text(drop);
            add_count(drops,
                      labels({{"recipe", recipe},
                              {"place", place_text(drop)},
                              {"module", module},
                              {"reason", reason},
                              {"benign", benign}}),
                      drop.count);
        }
        for (const auto& tally : rows.counts)
            add_count(tallies, labels({{"recipe", recipe}, {"counted", report.counted}}, tally.group), tally.count);
        const auto& accounting = report.accounting;
        const auto fate = [&](std::string_view name, std::string_view cause, std::int64_t count) {
            add_count(records, labels({{"recipe", recipe}, {"fate", name}, {"cause", cause}}), count);
        };
        add_count(seen, labels({{"recipe", recipe}}), accounting.seen);
        fate("reported", "", accounting.reported);
        fate("filtered", "", accounting.filtered);
        for (const auto& [cause, count] : accounting.incomplete)
            fate("incomplete", cause, count);
        for (const auto& [cause, count] : accounting.lost)
            fate("lost", cause, count);
        fate("unaccounted", "", accounting.unaccounted());
        for (const auto& [name, count] : accounting.other)
            add_count(other, labels({{"recipe", recipe}, {"name", name}}), count);
        const auto loss = [&](std::string_view name, std::int64_t count) {
            add_count(losses, labels({{"recipe", recipe}, {"kind", name}}), count);
        };
        loss("skipped_probes", report.transport.skipped_probes);
        loss("probe_errors", report.transport.probe_errors);
        loss("transport_failures", report.transport.transport_failures);
        for (const auto& [name, help, count] : report.counters) {
            if (count) add_count(counters, labels({{"recipe", recipe}, {"counter", name}}), *count);
        }
        add_count(lines, labels({{"recipe", recipe}, {"understood", "true"}}), report.input.recognised);
        add_count(lines, labels({{"recipe", recipe}, {"understood", "false"}}), report.input.unrecognised);
        add_count(not_closed, labels({{"recipe", recipe}}), accounting.closed ? 0 : 1);
    }
};

void write_openmetrics(std::ostream& out, std::span<const Summary> reports, const Options& options) {
    Families all;
    for (const auto& report : reports)
        all.add_report(report, options);
    write_histograms(out, "stapgen_stage_seconds", "Durations of each stage of the network stack.", all.stages);
    write_histograms(out, "stapgen_group_stage_seconds",
                     "The same for each group: the groups are parts of stapgen_stage_seconds.", all.groups);
    write_sums(out, "stapgen_value", "", "Values that are no durations.", all.values);
    write_sums(out, "stapgen_average_seconds", "seconds", "Durations of which the input had means only.",
               all.average_times);
    write_counter(out, "stapgen_drops", "Packets dropped, by place and reason.", all.drops);
    write_counter(out, "stapgen_counted", "Sums of what a recipe counts, by its keys.", all.tallies);
    write_counter(out, "stapgen_seen", "What the script looked at: all of stapgen_records.", all.seen);
    write_counter(out, "stapgen_records", "Where everything that was seen went.", all.records);
    write_counter(out, "stapgen_beside", "Counts of the script that are no part of the account.", all.other);
    write_counter(out, "stapgen_losses", "What SystemTap lost by its own account.", all.losses);
    write_counter(out, "stapgen_kernel_counter", "By how much counters of the kernel rose.", all.counters);
    write_counter(out, "stapgen_input_lines", "Lines of the input, understood or not.", all.lines);
    write_counter(out, "stapgen_not_closed", "Reports whose input stops without its last line.", all.not_closed);
    out << "# EOF\n";
}

}  // namespace

/// OpenMetrics 1.0 text (github.com/prometheus/OpenMetrics), with its "# EOF". Histograms of stages in seconds,
/// counters of drops, the account and all that was lost. Reports of one recipe add up. Counts below zero, which an
/// interval's account may have, are written as 0.
extern constexpr Format openmetrics_format{.name = "openmetrics", .write = write_openmetrics};

}  // namespace stapgen::report
