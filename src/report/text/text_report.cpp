// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "report/model/account_text.h"
#include "report/model/hosts.h"
#include "report/model/slow_records.h"
#include "report/text/sections.h"

namespace stapgen::report {

namespace {

using analyze::Drop;
using analyze::Measure;
using analyze::Summary;
using analyze::Tally;

/// So many lines of advice, for the reasons with the most drops.
constexpr std::size_t max_advice = 8;

void write_title(std::ostream& out, const Summary& summary, const Options& options) {
    out << base::printable(summary.recipe);
    if (const auto span = span_text(summary); !span.empty()) out << ", " << span;
    out << '\n';
    for (const auto& line : origin_lines(summary))
        out << base::wrapped(line, options.width, 2) << '\n';
    out << '\n';
}

/// What the extra columns of that name would say.
Table percentile_intervals(const Rows& rows, const Style& style, const Options& options) {
    Table table{"", {{.name = "95 % INTERVAL", .kind = Kind::head, .unit = style.is_time ? "us" : ""}}};
    for (const auto& percentile : options.percentiles)
        table.columns.push_back({"P" + percentile.text});
    for (const auto& row : rows) {
        auto& cells = table.rows.emplace_back();
        cells.push_back({row.measure->name});
        for (const auto& percentile : options.percentiles)
            cells.push_back({interval_text(row.measure->stats.confidence(percentile.percent), style)});
    }
    return table;
}

/// With as many decimals and extra columns as fit.
void write_measures(std::ostream& out, const Report& report, const Rows& rows, bool is_time) {
    if (rows.empty()) return;
    const auto width = report.options.width;
    const auto fits = [&](const std::string& text) {
        return std::ranges::all_of(base::split(text, '\n'), [&](auto line) { return line.size() <= width; });
    };
    auto style = style_of(rows, is_time);
    auto table = measures_table(report, rows, style);
    auto text = text_of(table);
    while (is_time && style.decimals > 1 && !fits(text)) {
        --style.decimals;
        table = measures_table(report, rows, style);
        text = text_of(table);
    }
    std::set<Extra> extras;
    for (const auto extra : {Extra::stddev, Extra::min, Extra::sum, Extra::intervals}) {
        if (extra == Extra::intervals && width <= base::default_width) continue;
        extras.insert(extra);
        if (auto wider = text_of(table, extras); fits(wider)) {
            text = std::move(wider);
        } else {
            extras.erase(extra);
        }
    }
    out << text << '\n';
    const bool is_whole = rows.front().measure->group.empty();
    if (is_whole && width > base::default_width && !extras.contains(Extra::intervals))
        out << text_of(percentile_intervals(rows, style, report.options)) << '\n';
}

void write_stages(std::ostream& out, const Report& report) {
    write_measures(out, report, report.stages.whole, true);
    write_measures(out, report, report.values.whole, false);
    if (report.options.top > 0) {
        write_measures(out, report, report.stages.groups, true);
        write_measures(out, report, report.values.groups, false);
    }
    for (const auto& note : report.footnotes)
        out << note << "\n\n";
}

/// Means of what has no percentiles.
void write_averages(std::ostream& out, const Summary& summary) {
    if (summary.averages.empty()) return;
    Table table{"", {{"MEANS ONLY", Kind::head}, {"N"}, {"MEAN"}, {"+-ERROR"}}};
    for (const auto& average : summary.averages) {
        const auto cell = [time = average.is_time](double number) {
            return time ? Style().cell(number) : fmt::format("{:.3f}", number);
        };
        table.rows.push_back({{average.name + (average.is_time ? " [us]" : "")},
                              {fmt::format("{}", average.n)},
                              {cell(average.mean)},
                              {cell(average.error)}});
    }
    out << text_of(table) << "means only: the input has no single values and so no percentiles\n\n";
}

/// Where the tail of each direction comes from, and its slowest records.
void write_directions(std::ostream& out, const Report& report) {
    for (const auto& direction : report.directions)
        out << base::wrapped(direction.sentence, report.options.width) << "\n\n";
    for (const auto& [breakdown, sentence, tail, slowest] : report.directions) {
        auto records = slowest;
        if (records.size() > report.options.slowest) records.resize(report.options.slowest);
        if (records.empty()) continue;
        const auto name = breakdown.direction().empty() ? "" : base::printable(breakdown.direction()) + " ";
        out << fmt::format("The slowest {}record{} [us]:\n", name, records.size() == 1 ? "" : "s");
        write_timelines(out, report.summary, breakdown, records, report.options);
        out << '\n';
    }
}

/// A row for each block of time, of "total" or else of every measure of the whole. In each block they are `histograms`.
void write_blocks(std::ostream& out, const Summary& summary, const std::vector<Measure>& measures,
                  std::vector<analyze::Histogram> analyze::Block::*histograms, bool is_time) {
    const auto whole = in_series(measures);
    const bool has_total = std::ranges::any_of(
        whole, [](const Measure* measure) { return measure->name == "total" && measure->stats.n() > 0; });
    const Style style{.is_time = is_time};
    Table table{
        "", {{"TIME", Kind::text}, {is_time ? "STAGE [us]" : "VALUE", Kind::head}, {"N"}, {"P50"}, {"P99"}, {"MAX"}}};
    const auto series = summary.series.by_second();
    for (const auto& block : series.blocks()) {
        const auto time = summary.start_epoch_ns ? local_time(block.start_ns) : seconds_text(block.start_ns);
        const auto& all = block.*histograms;
        for (std::size_t i = 0; i < whole.size() && i < all.size(); ++i) {
            if (has_total ? whole[i]->name != "total" : whole[i]->stats.n() == 0) continue;
            table.rows.push_back({{time},
                                  {whole[i]->name},
                                  {fmt::format("{}", all[i].n())},
                                  {style.cell(all[i].percentile(50))},
                                  {style.cell(all[i].percentile(99))},
                                  {style.cell(all[i].max())}});
        }
    }
    if (!table.rows.empty())
        out << "In blocks of " << duration_text(series.block_ns()) << ":\n" << text_of(table) << '\n';
}

/// When each interval ended, and then its rows by `write`, or `none` where there are none. `rows` are in the order of
/// their intervals. Nothing where there is one that is the whole measurement, or they have been written.
template <class Item, class Write>
void write_intervals(std::ostream& out, const Report& report, std::span<const Item> rows, std::string_view none,
                     Write write) {
    const auto& intervals = report.summary.intervals;
    if (!report.options.interval && (report.options.intervals_shown || intervals.size() < 2)) return;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const auto stop =
            std::ranges::find_if(rows, [i](const Item& row) { return row.interval != static_cast<std::int64_t>(i); });
        const auto here = rows.first(static_cast<std::size_t>(stop - rows.begin()));
        rows = rows.subspan(here.size());
        out << end_text(intervals[i].end_epoch_ns) << '\n';
        if (here.empty()) {
            out << none << "\n\n";
        } else {
            write(here);
        }
    }
}

void write_drop_table(std::ostream& out, const ShownDrops& shown, bool with_legend) {
    if (!shown.rows.empty()) out << text_of(drop_table(shown));
    if (with_legend && any_benign(shown.rows)) out << benign_legend << '\n';
    if (shown.hidden_rows > 0) out << hidden_text(shown) << '\n';
    out << '\n';
}

/// Each with its frames, the innermost first.
void write_stacks(std::ostream& out, const Report& report) {
    if (report.stacks.empty()) return;
    out << base::wrapped(report.stacks_title + ":", report.options.width, 2) << '\n';
    for (const auto& stack : report.stacks) {
        const auto text = fmt::format("{:>5} {}: {}", stack.count, reason_text(stack), path_text(stack));
        out << base::wrapped(text, report.options.width, 6) << '\n';
    }
    out << '\n';
}

/// A heading and a table for each interval, then the total and what its rows mean.
void write_drops(std::ostream& out, const Report& report) {
    const auto& options = report.options;
    write_intervals(out, report, std::span<const Drop>(report.summary.drops), "no drops",
                    [&](std::span<const Drop> rows) {
                        write_drop_table(out, shown_drops(rows, options.hide_benign), options.interval.has_value());
                    });
    if (options.interval) return;
    out << report.drops_title << '\n';
    write_drop_table(out, report.drops, true);
    for (const auto& given : std::span(report.advice).first(std::min(max_advice, report.advice.size())))
        out << base::wrapped(fmt::format("{}: {}", subject_of(given), given.advice.text), options.width, 2) << '\n';
    if (!report.advice.empty()) out << '\n';
    write_stacks(out, report);
}

/// The first rows; returns them.
std::span<const Tally> write_tallies(std::ostream& out, const Report& report, std::span<const Tally> tallies) {
    const auto shown = tallies.first(std::min(report.options.top, tallies.size()));
    out << text_of(tally_table(report.summary, shown));
    if (const auto rest = tallies.subspan(shown.size()); !rest.empty()) {
        const auto sum = report.summary.mixed_units ? "" : fmt::format("{} in ", analyze::sum_of(rest));
        out << fmt::format("and {}{} more row{}; --top shows more\n", sum, rest.size(), rest.size() == 1 ? "" : "s");
    }
    out << '\n';
    return shown;
}

/// Likewise.
void write_counts(std::ostream& out, const Report& report) {
    const auto& summary = report.summary;
    write_intervals(out, report, std::span<const Tally>(summary.tallies), "none",
                    [&](std::span<const Tally> rows) { write_tallies(out, report, rows); });
    if (report.options.interval) return;
    out << counts_title(summary, report.counts) << '\n';
    if (report.counts.empty()) {
        out << '\n';
        return;
    }
    const auto meanings = meanings_of(write_tallies(out, report, report.counts));
    for (const auto& [name, meaning] : meanings)
        out << base::wrapped(fmt::format("{}: {}", name, base::printable(meaning)), report.options.width, 2) << '\n';
    if (!meanings.empty()) out << '\n';
}

std::string share_text(std::optional<double> share) {
    return share ? fmt::format("{:.2f}%", *share * 100) : "-";
}

/// In a unit of time, or in cycles where it is not known how long these are.
std::string each(const analyze::Cost& cost, std::int64_t cycles, std::int64_t hits) {
    const auto of_one = cycles / std::max<std::int64_t>(hits, 1);
    const auto ns = cost.ns(of_one);
    if (!ns) return fmt::format("{} cycles", base::with_commas(of_one));
    return duration_text(*ns);
}

std::string headline(const analyze::Cost& cost) {
    auto text = fmt::format("The probes' cost: {} hits", base::with_commas(cost.hits()));
    if (cost.expected_hits) {
        text += fmt::format(" ({} expected for this traffic)", base::with_commas(*cost.expected_hits));
    }
    text += fmt::format(", {} each", each(cost, cost.cycles(), cost.hits()));
    if (const auto share = cost.share(cost.cycles())) {
        text += fmt::format("; {} of one CPU's time", share_text(share));
        if (cost.cpus > 1) {
            text += fmt::format(", {} of all {}", share_text(*share / static_cast<double>(cost.cpus)), cost.cpus);
        }
    }
    return text;
}

}  // namespace

void write_cost(std::ostream& out, const analyze::Cost& cost) {
    if (cost.probes.empty()) return;
    auto probes = cost.probes;
    std::ranges::stable_sort(probes, std::greater{}, &analyze::ProbeCost::cycles);
    Table table{"", {{"HITS"}, {"MEAN"}, {"MAX"}, {"ONE CPU"}, {"PROBE", Kind::text}}};
    for (const auto& probe : probes) {
        table.rows.push_back({{base::with_commas(probe.hits)},
                              {each(cost, probe.cycles, probe.hits)},
                              {each(cost, probe.max_cycles, 1)},
                              {share_text(cost.share(probe.cycles))},
                              {probe.point}});
    }
    out << '\n' << headline(cost) << '\n' << text_of(table) << '\n';
}

void write_calls(std::ostream& out, const Summary& summary) {
    for (const auto tree : call_trees(summary))
        out << "packet " << tree.front().packet << '\n' << call_tree(tree) << '\n';
    if (const auto more = calls_left_out(summary); !more.empty()) out << more << "\n\n";
}

namespace {

void write_report(std::ostream& out, const Summary& summary, const Options& options) {
    const Report report(summary, options);
    const bool is_part = options.interval && summary.counts();
    if (!is_part) write_title(out, summary, options);
    write_calls(out, summary);
    write_stages(out, report);
    write_averages(out, summary);
    write_directions(out, report);
    if (options.series && !options.interval && !summary.series.blocks().empty()) {
        write_blocks(out, summary, summary.stages, &analyze::Block::stages, true);
        write_blocks(out, summary, summary.values, &analyze::Block::values, false);
    }
    if (summary.counts_drops) write_drops(out, report);
    if (!summary.counted.empty()) write_counts(out, report);
    if (const auto counters = counters_table(summary.counters); !counters.rows.empty())
        out << counters.caption << ":\n" << text_of(counters) << '\n';
    if (!is_part) {
        for (const auto& line : account_lines(summary))
            out << line << '\n';
    }
    write_cost(out, summary.cost);
    for (const auto& warning : warnings_of(summary))
        out << "WARNING: " << warning << '\n';
    for (const auto& note : summary.notes)
        out << "note: " << base::printable(note.text) << '\n';
    for (const auto& line : not_understood(summary.input))
        out << line << '\n';
}

void write(std::ostream& out, std::span<const Summary> reports, const Options& options) {
    for (const auto& report : reports) {
        if (&report != &reports.front()) out << '\n';
        write_report(out, report, options);
    }
}

void write_hosts(std::ostream& out, const Hosts& hosts, std::span<const Summary> reports, const Options& options) {
    const auto table = hosts_table(hosts, options.top);
    out << text_of(table);
    if (!table.below.empty()) out << fmt::format("... {}: --top\n", table.below);
    out << '\n';
    write(out, reports, options);
}

}  // namespace

/// For a person and for a ticket: tables in one unit (us), where the tail comes from, the slowest, the accounting, and
/// a WARNING for all that is missing. What is empty is left out. Local time zone.
constexpr Format table_format{.name = "table",
                              .write = write,
                              .write_comparisons = write_comparisons,
                              .write_hosts = write_hosts,
                              .records = event_table,
                              .intervals = true};

}  // namespace stapgen::report
