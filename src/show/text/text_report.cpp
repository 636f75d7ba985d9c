// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/saturate.h"
#include "base/text.h"
#include "show/model/calls.h"
#include "show/model/hosts.h"
#include "show/model/layout.h"
#include "show/model/measures.h"
#include "show/model/slow_records.h"
#include "show/text/sections.h"
#include "table/merge.h"

namespace stapgen::show {

namespace {

using rows::Results;

/// The number of lines of advice, for the reasons with the most drops.
constexpr std::size_t max_advice = 8;

/// On a terminal no line is wider than that.
void say(std::ostream& out, std::string_view text, const Options& options, base::Ink ink = base::Ink::plain) {
    out << painted(base::fitted(text, options.screen.width), ink, options.screen) << '\n';
}

void write_title(std::ostream& out, const Results& results, const Options& options) {
    auto title = base::printable(results.one<rows::Report>().recipe);
    if (!results.sentences.span.empty()) title += ", " + results.sentences.span;
    out << base::fitted(title, options.screen.width) << '\n';
    for (const auto& line : options.quiet ? table::Texts() : results.sentences.origin)
        out << base::wrapped(line, options.width(), 2) << '\n';
    out << '\n';
}

/// What the extra columns of that name would say.
Table percentile_intervals(const Measures& measures, const Style& style, const Options& options) {
    Table table{"", {{.name = "95 % INTERVAL", .kind = Kind::head, .unit = style.is_time ? "us" : ""}}};
    for (const auto& percentile : options.percentiles)
        table.columns.push_back({"P" + percentile.text});
    for (const auto& row : measures.rows) {
        auto& cells = table.rows.emplace_back();
        cells.push_back({row.name});
        for (const auto& percentile : options.percentiles)
            cells.push_back({interval_text(row.stats->confidence(percentile.percent), style)});
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
void write_measures(std::ostream& out, const Results& results, const Measures& measures, const Options& options) {
    if (measures.rows.empty()) return;
    const auto& screen = options.screen;
    const auto width = options.width();
    auto style = style_of(measures);
    Table table;
    std::string text;
    const auto set_decimals = [&](int decimals) {
        style.decimals = decimals;
        table = measures_table(results, measures, style, options.percentiles);
        text = text_of(table);
    };
    const auto all = style.decimals;
    set_decimals(all);
    if (style.is_time && !fits(text, width)) {
        // Where no terminal breaks lines, names may make them longer than a page. Then they keep decimals, too.
        const auto limit = screen.width > 0 ? width : max_width;
        set_decimals(1);
        const auto wanted = fits(text, width) ? width : limit;
        const bool has_room = fits(text, limit) || screen.width > 0;
        for (set_decimals(all); has_room && style.decimals > 1 && !fits(text, wanted);)
            set_decimals(style.decimals - 1);
    }
    std::set<Extra> extras;
    const bool is_whole = measures.rows.front().group.empty();
    std::optional<Trend> trend;
    if (style.is_time && is_whole && screen.utf8 && !options.interval && !options.quiet)
        trend = trend_of(results, width - std::min(width, widest_line(text) + 1));
    if (trend) {
        table = measures_table(results, measures, style, options.percentiles, trend);
        extras.insert(Extra::trend);
    }
    for (const auto extra : {Extra::stddev, Extra::min, Extra::sum, Extra::intervals}) {
        if (extra == Extra::intervals && width <= base::default_width) continue;
        extras.insert(extra);
        if (!fits(text_of(table, {}, extras), width)) extras.erase(extra);
    }
    out << text_of(table, screen, extras);
    if (trend) say(out, trend_legend(results, *trend), options);
    out << '\n';
    if (is_whole && !options.quiet && width > base::default_width && !extras.contains(Extra::intervals))
        out << text_of(percentile_intervals(measures, style, options), screen) << '\n';
}

void write_stages(std::ostream& out, const Results& results, const Options& options) {
    for (const bool are_times : {true, false})
        write_measures(out, results, whole_rows(results, are_times), options);
    if (options.top > 0 && options.has_groups) {
        for (const bool are_times : {true, false})
            write_measures(out, results, group_rows(results, are_times, options.top), options);
    }
    if (options.quiet) return;
    for (const auto& note : footnotes(results, options)) {
        say(out, note, options);
        out << '\n';
    }
}

/// Means of what has no percentiles.
void write_averages(std::ostream& out, const Results& results, const Options& options) {
    const auto& averages = results.of<rows::Average>();
    if (averages.empty()) return;
    out << text_of(laid_out(averages), options.screen);
    if (!options.quiet) say(out, "means only: the input has no single values and so no percentiles", options);
    out << '\n';
}

/// The stage that the sentence finds comes first in its second part.
std::string with_stage_painted(std::string sentence, const std::string& stage, const base::Screen& screen) {
    const auto at = stage.empty() ? std::string::npos : sentence.find(stage, sentence.find(';'));
    if (at != std::string::npos) sentence.replace(at, stage.size(), painted(stage, base::Ink::strong, screen));
    return sentence;
}

/// Where the tail of each direction comes from, and its slowest records.
void write_directions(std::ostream& out, const Results& results, const Options& options) {
    const auto& ways = results.of<rows::Way>();
    for (const auto& tail : results.of<rows::Tail>()) {
        const auto way = std::ranges::find(ways, tail.number, &rows::Way::number);
        const auto stage = base::printable(way->tail_stage.value_or(""));
        const auto sentence = base::wrapped(tail.sentence, options.width());
        out << with_stage_painted(sentence, stage, options.screen) << "\n\n";
    }
    if (options.quiet) return;
    for (const auto& direction : ways)
        write_timelines(out, results, direction, options);
}

/// A row for each block of time, of "total" or else of every measure of the whole. In each block they are `histograms`.
void write_blocks(std::ostream& out, const Results& results, bool are_times, const base::Screen& screen) {
    const auto whole = whole_rows(results, are_times);
    const auto& names = are_times ? results.one<rows::Series>().stages : results.one<rows::Series>().values;
    const auto histograms = are_times ? &table::Block::stages : &table::Block::values;
    const auto has_values = [&](std::string_view name) {
        return std::ranges::any_of(whole.rows,
                                   [&](const MeasureRow& row) { return row.name == name && row.stats->n() > 0; });
    };
    const bool has_total = has_values("total");
    const bool has_start = has_epoch(results);
    const Style style{.is_time = are_times};
    Table table{
        "",
        {{"TIME", Kind::text}, {style.is_time ? "STAGE [us]" : "VALUE", Kind::head}, {"N"}, {"P50"}, {"P99"}, {"MAX"}}};
    const auto series = results.series().by_second();
    for (const auto& block : series.blocks()) {
        const auto time = has_start ? local_time(block.start_ns) : seconds_text(block.start_ns);
        const auto& all = block.*histograms;
        for (std::size_t i = 0; i < names.size() && i < all.size(); ++i) {
            if (has_total ? names[i] != "total" : !has_values(names[i])) continue;
            table.rows.push_back({{time},
                                  {names[i]},
                                  {fmt::format("{}", all[i].n())},
                                  {style.cell(all[i].percentile(50))},
                                  {style.cell(all[i].percentile(99))},
                                  {style.cell(all[i].max())}});
        }
    }
    if (!table.rows.empty())
        out << "In blocks of " << duration_text(series.block_ns()) << ":\n" << text_of(table, screen) << '\n';
}

/// The rows of one interval, without what is the same in all of them.
template <class Row>
std::vector<Row> of_interval(const std::vector<rows::OfInterval<Row>>& all, std::int64_t interval) {
    std::vector<Row> rows;
    for (const auto& row : all)
        if (row.interval == interval) rows.push_back(row);
    return rows;
}

/// When each interval ended, and then its rows by `write`, which takes its number. Nothing where there is one that is
/// the whole measurement, or they have been written.
void write_intervals(std::ostream& out, const Results& results, const Options& options, const auto& write) {
    const auto& intervals = results.of<rows::Interval>();
    if (!options.interval && (options.intervals_shown || intervals.size() < 2)) return;
    for (const auto& row : intervals) {
        out << end_text(row.end) << '\n';
        write(row.interval);
    }
}

void write_drop_table(std::ostream& out, const std::vector<rows::Drop>& drops, const std::string& hidden,
                      bool with_legend, const Options& options) {
    if (!drops.empty()) out << text_of(laid_out(drops), options.screen);
    if (with_legend && !options.quiet && any_benign(drops)) say(out, benign_legend, options);
    if (!hidden.empty()) say(out, hidden, options);
    out << '\n';
}

/// Each with its frames, the innermost first.
void write_stacks(std::ostream& out, const Results& results, const Options& options) {
    if (results.stacks_shown.empty()) return;
    out << base::wrapped(results.sentences.stacks + ":", options.width(), 2) << '\n';
    for (const auto& row : results.stacks_shown) {
        const auto text = fmt::format("{:>5} {}: {}", row.count, reason_text(row.reason), path_text(*row.frames));
        out << base::wrapped(text, options.width(), 6) << '\n';
    }
    out << '\n';
}

void write_interval_drops(std::ostream& out, const Results& results, std::int64_t interval, const Options& options) {
    const auto drops = of_interval(results.of<rows::OfInterval<rows::Drop>>(), interval);
    std::int64_t hidden_drops = 0, hidden_rows = 0;
    for (const auto& hidden : results.of<rows::HiddenOfInterval>()) {
        if (hidden.interval != interval) continue;
        base::add_saturating(hidden_drops, hidden.count);
        hidden_rows += hidden.rows;
    }
    if (drops.empty() && hidden_rows == 0) {
        out << "no drops\n\n";
        return;
    }
    write_drop_table(out, drops, hidden_text(hidden_drops, hidden_rows), options.interval.has_value(), options);
}

/// A heading and a table for each interval, then the total and what its rows mean.
void write_drops(std::ostream& out, const Results& results, const Options& options) {
    write_intervals(out, results, options,
                    [&](std::int64_t interval) { write_interval_drops(out, results, interval, options); });
    if (options.interval) return;
    say(out, results.sentences.drops, options);
    write_drop_table(out, results.of<rows::Drop>(), hidden_text(results), true, options);
    if (options.quiet) return;
    auto advice = laid_out(results.of<rows::Advice>()).rows;
    for (const auto& row : std::span(advice).first(std::min(max_advice, advice.size())))
        out << base::wrapped(fmt::format("{}: {}", row.front().text, row.back().text), options.width(), 2) << '\n';
    if (!advice.empty()) out << '\n';
    write_stacks(out, results, options);
}

/// The first rows; returns them.
std::vector<rows::Count> write_count_table(std::ostream& out, const Results& results, std::vector<rows::Count> counts,
                                           const Options& options) {
    const auto shown = counts.begin() + static_cast<std::ptrdiff_t>(std::min(options.top, counts.size()));
    const std::vector<rows::Count> rest(shown, counts.end());
    counts.erase(shown, counts.end());
    out << text_of(laid_out(counts), options.screen);
    if (!rest.empty()) {
        const bool has_sum = !results.one<rows::Counting>().mixed_units;
        const auto sum = has_sum ? fmt::format("{} in ", base::saturating_sum(rest, &rows::Count::count)) : "";
        say(out, fmt::format("and {}{} more row{}; --top shows more", sum, rest.size(), rest.size() == 1 ? "" : "s"),
            options);
    }
    out << '\n';
    return counts;
}

/// A heading and a table for each interval, then all of them together.
void write_counts(std::ostream& out, const Results& results, const Options& options) {
    write_intervals(out, results, options, [&](std::int64_t interval) {
        const auto counts = of_interval(results.of<rows::OfInterval<rows::Count>>(), interval);
        if (counts.empty()) {
            out << "none\n\n";
        } else {
            write_count_table(out, results, counts, options);
        }
    });
    if (options.interval) return;
    say(out, results.sentences.counts, options);
    const auto& counts = results.of<rows::Count>();
    if (counts.empty()) {
        out << '\n';
        return;
    }
    const auto meanings = meanings_of(write_count_table(out, results, counts, options));
    if (options.quiet) return;
    for (const auto& [name, meaning] : meanings)
        out << base::wrapped(fmt::format("{}: {}", name, base::printable(meaning)), options.width(), 2) << '\n';
    if (!meanings.empty()) out << '\n';
}

/// What became of received packets.
void write_ledger(std::ostream& out, const Results& results, const Options& options) {
    if (results.of<rows::Ledger>().empty()) return;
    out << text_of(laid_out(results.of<rows::Ledger>()), options.screen) << '\n';
    for (const auto& sentence : results.sentences.ledger)
        say(out, sentence, options);
    out << '\n';
}

/// What threads waited for, the worst first.
void write_who(std::ostream& out, const Results& results, const Options& options) {
    auto who = results.of<rows::Who>();
    if (who.empty()) return;
    const auto rest = who.size() - std::min(options.top, who.size());
    who.resize(who.size() - rest);
    if (!options.quiet) out << base::wrapped(results.sentences.who, options.width(), 2) << '\n';
    out << text_of(laid_out(who), options.screen);
    if (rest > 0) say(out, fmt::format("and {} more row{}; --top shows more", rest, rest == 1 ? "" : "s"), options);
    out << '\n';
}

std::string cpu_share_text(const std::optional<double>& percent) {
    return percent ? fmt::format("{:.2f}%", *percent) : "-";
}

/// In a unit of time, or in cycles where it is not known how long these are.
std::string each(const rows::Cost& cost, std::int64_t cycles, std::int64_t hits) {
    const auto of_one = cycles / std::max<std::int64_t>(hits, 1);
    const auto per_s = cost.cycles_per_s;
    if (!per_s) return fmt::format("{} cycles", base::with_commas(of_one));
    return duration_text(static_cast<double>(of_one) / *per_s * 1e9);
}

std::string headline(const rows::Cost& cost) {
    auto text = fmt::format("The probes' cost: {} hits", base::with_commas(cost.hits));
    if (cost.expected_hits)
        text += fmt::format(" ({} expected for this traffic)", base::with_commas(*cost.expected_hits));
    text += fmt::format(", {} each", each(cost, cost.cycles, cost.hits));
    if (cost.one_cpu_percent) {
        text += fmt::format("; {} of one CPU's time", cpu_share_text(cost.one_cpu_percent));
        if (cost.cpus > 1) text += fmt::format(", {} of all {}", cpu_share_text(cost.all_cpus_percent), cost.cpus);
    }
    return text;
}

}  // namespace

void write_cost(std::ostream& out, const Results& results, const base::Screen& screen) {
    const auto& cost = results.one<rows::Cost>();
    auto probes = cost.probes;
    if (probes.empty()) return;
    std::ranges::stable_sort(probes, std::greater{}, &rows::ProbeCost::cycles);
    Table table{"", {{"HITS"}, {"MEAN"}, {"MAX"}, {"ONE CPU"}, {"PROBE", Kind::text}}};
    for (const auto& row : probes) {
        table.rows.push_back({{base::with_commas(row.hits)},
                              {each(cost, row.cycles, row.hits)},
                              {each(cost, row.max_cycles, 1)},
                              {cpu_share_text(row.one_cpu_percent)},
                              {row.point}});
    }
    out << '\n' << base::fitted(headline(cost), screen.width) << '\n' << text_of(table, screen) << '\n';
}

void write_calls(std::ostream& out, const Results& results, const base::Screen& screen) {
    for (const auto tree : call_trees(results.of<Call>())) {
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
    if (const auto& more = results.sentences.calls_left_out; !more.empty())
        out << base::fitted(more, screen.width) << "\n\n";
}

namespace {

void write_report(std::ostream& out, const Results& results, const Options& options) {
    const bool counts_drops = results.counts_drops();
    const bool counts = results.one<rows::Counting>().counted.has_value();
    // A latency recipe may count drops beside its records.
    const bool is_part = options.interval && (counts || (counts_drops && results.of<rows::Stage>().empty()));
    if (!is_part) write_title(out, results, options);
    write_calls(out, results, options.screen);
    write_stages(out, results, options);
    write_averages(out, results, options);
    write_directions(out, results, options);
    write_who(out, results, options);
    write_ledger(out, results, options);
    if (options.series && !options.interval && !options.quiet && !results.series().blocks().empty()) {
        for (const bool are_times : {true, false})
            write_blocks(out, results, are_times, options.screen);
    }
    if (counts_drops) write_drops(out, results, options);
    if (counts) write_counts(out, results, options);
    if (const auto counters = losses_table(results); !counters.rows.empty())
        out << base::fitted(counters.caption + ":\n", options.screen.width) << text_of(counters, options.screen)
            << '\n';
    if (!is_part && !options.quiet) {
        const bool has_losses = results.one<rows::Accounting>().lost > 0;
        auto ink = has_losses ? base::Ink::bad : base::Ink::plain;
        for (const auto& line : results.sentences.account)
            say(out, line, options, std::exchange(ink, base::Ink::plain));
    }
    if (!options.quiet) write_cost(out, results, options.screen);
    for (const auto& warning : results.sentences.warnings)
        write_warning(out, warning, options.screen);
    const auto& flaws = results.sentences.not_understood;
    if (options.quiet) {
        if (!flaws.empty())
            write_warning(out, flaws.front().substr(0, flaws.front().find_first_of(";:")), options.screen);
        return;
    }
    for (const auto& [note] : results.of<rows::Note>())
        say(out, "note: " + base::printable(note), options);
    for (const auto& line : flaws)
        say(out, line, options);
}

void write(std::ostream& out, const Reports& reports, const Options& options) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
        if (i > 0) out << '\n';
        write_report(out, reports.results(i, options), options);
    }
}

void write_hosts(std::ostream& out, const Hosts& hosts, const Reports& reports, const Options& options) {
    const auto table = hosts_table(hosts, options.top);
    if (!hosts.verdict.empty()) say(out, base::printable(hosts.verdict) + ".\n", options);
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

}  // namespace stapgen::show
