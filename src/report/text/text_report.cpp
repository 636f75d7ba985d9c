// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/model/account_text.h"
#include "report/model/hosts.h"
#include "report/model/layout.h"
#include "report/model/results.h"
#include "report/model/slow_records.h"
#include "report/text/sections.h"

namespace stapgen::report {

namespace {

using analyze::Drop;
using analyze::Measure;
using analyze::Summary;
using analyze::Tally;

/// The number of lines of advice, for the reasons with the most drops.
constexpr std::size_t max_advice = 8;

/// On a terminal no line is wider than that.
void say(std::ostream& out, std::string_view text, const Options& options, base::Ink ink = base::Ink::plain) {
    out << painted(base::fitted(text, options.screen.width), ink, options.screen) << '\n';
}

void write_title(std::ostream& out, const Summary& summary, const Options& options) {
    auto title = base::printable(summary.recipe);
    if (const auto span = span_text(summary); !span.empty()) title += ", " + span;
    out << base::fitted(title, options.screen.width) << '\n';
    for (const auto& line : options.quiet ? std::vector<std::string>() : origin_lines(summary))
        out << base::wrapped(line, options.width(), 2) << '\n';
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

std::size_t widest_line(std::string_view text) {
    std::size_t widest = 0;
    for (const auto line : base::split(text, '\n'))
        widest = std::max(widest, line.size());
    return widest;
}

/// Limit of columns of a table that no terminal shows, and that is wider than a page without decimals.
constexpr std::size_t max_width = 100;

/// With as many decimals and extra columns as fit.
void write_measures(std::ostream& out, const Report& report, const Rows& rows, bool is_time) {
    if (rows.empty()) return;
    const auto& options = report.options;
    const auto& screen = options.screen;
    const auto width = options.width();
    auto style = style_of(rows, is_time);
    Table table;
    std::string text;
    const auto set_decimals = [&](int decimals) {
        style.decimals = decimals;
        table = measures_table(report, rows, style);
        text = text_of(table);
    };
    const auto all = style.decimals;
    set_decimals(all);
    if (is_time && !fits(text, width)) {
        // Where no terminal breaks lines, names may make them longer than a page. Then they keep decimals, too.
        const auto limit = screen.width > 0 ? width : max_width;
        set_decimals(1);
        const auto wanted = fits(text, width) ? width : limit;
        const bool has_room = fits(text, limit) || screen.width > 0;
        for (set_decimals(all); has_room && style.decimals > 1 && !fits(text, wanted);)
            set_decimals(style.decimals - 1);
    }
    std::set<Extra> extras;
    const bool is_whole = rows.front().measure->group.empty();
    std::optional<Trend> trend;
    if (is_time && is_whole && screen.utf8 && !options.interval && !options.quiet)
        trend = trend_of(report.summary, width - std::min(width, widest_line(text) + 1));
    if (trend) {
        table = measures_table(report, rows, style, trend);
        extras.insert(Extra::trend);
    }
    for (const auto extra : {Extra::stddev, Extra::min, Extra::sum, Extra::intervals}) {
        if (extra == Extra::intervals && width <= base::default_width) continue;
        extras.insert(extra);
        if (!fits(text_of(table, {}, extras), width)) extras.erase(extra);
    }
    out << text_of(table, screen, extras);
    if (trend) say(out, trend_legend(report.summary, *trend), options);
    out << '\n';
    if (is_whole && !options.quiet && width > base::default_width && !extras.contains(Extra::intervals))
        out << text_of(percentile_intervals(rows, style, options), screen) << '\n';
}

void write_stages(std::ostream& out, const Report& report) {
    write_measures(out, report, report.stages.whole, true);
    write_measures(out, report, report.values.whole, false);
    if (report.options.top > 0 && report.options.has_groups) {
        write_measures(out, report, report.stages.groups, true);
        write_measures(out, report, report.values.groups, false);
    }
    if (report.options.quiet) return;
    for (const auto& note : report.footnotes) {
        say(out, note, report.options);
        out << '\n';
    }
}

/// Means of what has no percentiles.
void write_averages(std::ostream& out, const Summary& summary, const Options& options) {
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
    out << text_of(table, options.screen);
    if (!options.quiet) say(out, "means only: the input has no single values and so no percentiles", options);
    out << '\n';
}

/// The stage that the sentence finds follows the "excess" that it explains.
std::string with_stage_painted(std::string sentence, const std::string& stage, const base::Screen& screen) {
    const auto at = stage.empty() ? std::string::npos : sentence.find(stage, sentence.find("excess"));
    if (at != std::string::npos) sentence.replace(at, stage.size(), painted(stage, base::Ink::strong, screen));
    return sentence;
}

/// Where the tail of each direction comes from, and its slowest records.
void write_directions(std::ostream& out, const Report& report) {
    for (const auto& direction : report.directions) {
        const auto sentence = base::wrapped(direction.sentence, report.options.width());
        const auto stage = direction.tail ? base::printable(stage_of_tail(*direction.tail)) : "";
        out << with_stage_painted(sentence, stage, report.options.screen) << "\n\n";
    }
    if (report.options.quiet) return;
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
                  std::vector<table::Histogram> analyze::Block::*histograms, bool is_time, const base::Screen& screen) {
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
        out << "In blocks of " << duration_text(series.block_ns()) << ":\n" << text_of(table, screen) << '\n';
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

void write_drop_table(std::ostream& out, const Report& report, const ShownDrops& shown, bool with_legend) {
    const auto& options = report.options;
    if (!shown.rows.empty())
        out << text_of(laid_out(drops_table(report, shown.rows, table::Scope::whole)), options.screen);
    if (with_legend && !options.quiet && any_benign(shown.rows)) say(out, benign_legend, options);
    if (shown.hidden_rows > 0) say(out, hidden_text(shown), options);
    out << '\n';
}

/// Each with its frames, the innermost first.
void write_stacks(std::ostream& out, const Report& report) {
    if (report.stacks.empty()) return;
    out << base::wrapped(report.stacks_title + ":", report.options.width(), 2) << '\n';
    for (const auto& stack : report.stacks) {
        const auto text = fmt::format("{:>5} {}: {}", stack.count, reason_text(stack.reason), path_text(*stack.frames));
        out << base::wrapped(text, report.options.width(), 6) << '\n';
    }
    out << '\n';
}

/// A heading and a table for each interval, then the total and what its rows mean.
void write_drops(std::ostream& out, const Report& report) {
    const auto& options = report.options;
    write_intervals(
        out, report, std::span<const Drop>(report.summary.drops), "no drops", [&](std::span<const Drop> rows) {
            write_drop_table(out, report, shown_drops(rows, options.hide_benign), options.interval.has_value());
        });
    if (options.interval) return;
    say(out, report.drops_title, options);
    write_drop_table(out, report, report.drops, true);
    if (options.quiet) return;
    for (const auto& given : std::span(report.advice).first(std::min(max_advice, report.advice.size())))
        out << base::wrapped(fmt::format("{}: {}", subject_of(given), given.advice.text), options.width(), 2) << '\n';
    if (!report.advice.empty()) out << '\n';
    write_stacks(out, report);
}

/// The first rows; returns them.
std::span<const Tally> write_tallies(std::ostream& out, const Report& report, std::span<const Tally> tallies) {
    const auto shown = tallies.first(std::min(report.options.top, tallies.size()));
    out << text_of(laid_out(counts_table(report, shown, table::Scope::whole)), report.options.screen);
    if (const auto rest = tallies.subspan(shown.size()); !rest.empty()) {
        const auto sum = report.summary.mixed_units ? "" : fmt::format("{} in ", analyze::sum_of(rest));
        say(out, fmt::format("and {}{} more row{}; --top shows more", sum, rest.size(), rest.size() == 1 ? "" : "s"),
            report.options);
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
    say(out, counts_title(summary, report.counts), report.options);
    if (report.counts.empty()) {
        out << '\n';
        return;
    }
    const auto meanings = meanings_of(write_tallies(out, report, report.counts));
    if (report.options.quiet) return;
    for (const auto& [name, meaning] : meanings)
        out << base::wrapped(fmt::format("{}: {}", name, base::printable(meaning)), report.options.width(), 2) << '\n';
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

void write_cost(std::ostream& out, const analyze::Cost& cost, const base::Screen& screen) {
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
    out << '\n' << base::fitted(headline(cost), screen.width) << '\n' << text_of(table, screen) << '\n';
}

void write_calls(std::ostream& out, const Summary& summary, const base::Screen& screen) {
    for (const auto tree : call_trees(summary)) {
        out << "packet " << tree.front().packet << '\n';
        const auto text = call_tree(tree);
        for (const auto line : base::split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
            // What a function's name has no room for goes on below it.
            const auto bar = line.find('|');
            const auto name = bar == std::string_view::npos ? bar : line.find_first_not_of(" |", bar);
            const auto begin = std::min(line.find_first_not_of(' '), line.size());
            out << base::fitted(line, screen.width, name == std::string_view::npos ? 2 : name - begin + 2) << '\n';
        }
        out << '\n';
    }
    if (const auto more = calls_left_out(summary); !more.empty()) out << base::fitted(more, screen.width) << "\n\n";
}

namespace {

void write_report(std::ostream& out, const Summary& summary, const Options& options) {
    const Report report(summary, options);
    const bool is_part = options.interval && summary.counts();
    if (!is_part) write_title(out, summary, options);
    write_calls(out, summary, options.screen);
    write_stages(out, report);
    write_averages(out, summary, options);
    write_directions(out, report);
    if (options.series && !options.interval && !options.quiet && !summary.series.blocks().empty()) {
        write_blocks(out, summary, summary.stages, &analyze::Block::stages, true, options.screen);
        write_blocks(out, summary, summary.values, &analyze::Block::values, false, options.screen);
    }
    if (summary.counts_drops) write_drops(out, report);
    if (!summary.counted.empty()) write_counts(out, report);
    if (const auto counters = losses_table(summary); !counters.rows.empty())
        out << base::fitted(counters.caption + ":\n", options.screen.width) << text_of(counters, options.screen)
            << '\n';
    if (!is_part && !options.quiet) {
        auto ink = summary.accounting.lost_total() > 0 ? base::Ink::bad : base::Ink::plain;
        for (const auto& line : account_lines(summary))
            say(out, line, options, std::exchange(ink, base::Ink::plain));
    }
    if (!options.quiet) write_cost(out, summary.cost, options.screen);
    for (const auto& warning : warnings_of(summary))
        write_warning(out, warning, options.screen);
    const auto flaws = not_understood(summary.input);
    if (options.quiet) {
        if (!flaws.empty())
            write_warning(out, flaws.front().substr(0, flaws.front().find_first_of(";:")), options.screen);
        return;
    }
    for (const auto& note : summary.notes)
        say(out, "note: " + base::printable(note.text), options);
    for (const auto& line : flaws)
        say(out, line, options);
}

void write(std::ostream& out, std::span<const Summary> reports, const Options& options) {
    for (const auto& report : reports) {
        if (&report != &reports.front()) out << '\n';
        write_report(out, report, options);
    }
}

void write_hosts(std::ostream& out, const Hosts& hosts, std::span<const Summary> reports, const Options& options) {
    const auto table = hosts_table(hosts, options.top);
    out << text_of(table, options.screen);
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
