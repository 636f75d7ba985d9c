// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "show/model/calls.h"
#include "show/model/hosts.h"
#include "show/model/layout.h"
#include "show/model/measures.h"
#include "show/model/slow_records.h"
#include "show/text/sections.h"

namespace stapgen::show {

namespace {

using table::Results;
using table::Scope;

/// The number of lines of advice, for the reasons with the most drops.
constexpr std::size_t max_advice = 8;

/// On a terminal no line is wider than that.
void say(std::ostream& out, std::string_view text, const Options& options, base::Ink ink = base::Ink::plain) {
    out << painted(base::fitted(text, options.screen.width), ink, options.screen) << '\n';
}

void write_title(std::ostream& out, const Results& results, const Options& options) {
    auto title = base::printable(table::text_of(results.fact("report", "recipe")));
    for (const auto& span : results.sentences("span"))
        title += ", " + span;
    out << base::fitted(title, options.screen.width) << '\n';
    for (const auto& line : options.quiet ? std::vector<std::string>() : results.sentences("origin"))
        out << base::wrapped(line, options.width(), 2) << '\n';
    out << '\n';
}

/// What the extra columns of that name would say.
Table percentile_intervals(const table::Table& rows, const Style& style, const Options& options) {
    Table table{"", {{.name = "95 % INTERVAL", .kind = Kind::head, .unit = style.is_time ? "us" : ""}}};
    for (const auto& percentile : options.percentiles)
        table.columns.push_back({"P" + percentile.text});
    for (const auto& row : measured(rows)) {
        auto& cells = table.rows.emplace_back();
        cells.push_back({row.name});
        for (const auto& percentile : options.percentiles)
            cells.push_back({interval_text(row.stats.confidence(percentile.percent), style)});
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
void write_measures(std::ostream& out, const Results& results, const table::Table& rows, const Options& options) {
    if (rows.rows.empty()) return;
    const auto& screen = options.screen;
    const auto width = options.width();
    auto style = style_of(rows);
    Table table;
    std::string text;
    const auto set_decimals = [&](int decimals) {
        style.decimals = decimals;
        table = measures_table(results, rows, style, options.percentiles);
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
    const bool is_whole = measured(rows).front().group.empty();
    std::optional<Trend> trend;
    if (style.is_time && is_whole && screen.utf8 && !options.interval && !options.quiet)
        trend = trend_of(results, width - std::min(width, widest_line(text) + 1));
    if (trend) {
        table = measures_table(results, rows, style, options.percentiles, trend);
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
        out << text_of(percentile_intervals(rows, style, options), screen) << '\n';
}

void write_stages(std::ostream& out, const Results& results, const Options& options) {
    for (const auto* name : {"stages", "values"})
        write_measures(out, results, whole_rows(results, name), options);
    if (options.top > 0 && options.has_groups) {
        for (const auto* name : {"stages", "values"})
            write_measures(out, results, group_rows(results, name, options.top), options);
    }
    if (options.quiet) return;
    for (const auto& note : footnotes(results, options)) {
        say(out, note, options);
        out << '\n';
    }
}

/// Means of what has no percentiles.
void write_averages(std::ostream& out, const Results& results, const Options& options) {
    const auto& averages = results.at("averages");
    if (averages.rows.empty()) return;
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
    const auto& ways = results.at("ways");
    const auto& tails = results.at("tail");
    for (const auto& tail : tails.rows) {
        const auto way = std::ranges::find(ways.rows, tail.front(), [](const table::Row& row) { return row.front(); });
        const auto stage = base::printable(table::text_of(ways.at(*way, "tail_stage")));
        const auto sentence = base::wrapped(table::text_of(tails.at(tail, "sentence")), options.width());
        out << with_stage_painted(sentence, stage, options.screen) << "\n\n";
    }
    for (const auto& direction : options.quiet ? std::vector<table::Row>() : ways.rows)
        write_timelines(out, results, direction, options);
}

/// A row for each block of time, of "total" or else of every measure of the whole. In each block they are `histograms`.
void write_blocks(std::ostream& out, const Results& results, std::string_view measures, const table::Texts& names,
                  std::vector<table::Histogram> table::Block::*histograms, const base::Screen& screen) {
    const auto whole = whole_rows(results, measures);
    const auto rows = measured(whole);
    const auto has_values = [&](std::string_view name) {
        return std::ranges::any_of(rows, [&](const MeasureRow& row) { return row.name == name && row.stats.n() > 0; });
    };
    const bool has_total = has_values("total");
    const bool has_start = has_epoch(results);
    const Style style{.is_time = measures == "stages"};
    Table table{
        "",
        {{"TIME", Kind::text}, {style.is_time ? "STAGE [us]" : "VALUE", Kind::head}, {"N"}, {"P50"}, {"P99"}, {"MAX"}}};
    const auto series = results.series->by_second();
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
table::Table of_interval(table::Table table, std::int64_t interval) {
    std::erase_if(table.rows,
                  [&](const table::Row& row) { return table.at(row, "interval") != table::Value(interval); });
    for (auto& column : table.columns) {
        if (column.type == table::Type::time) column.people.place = 0;
    }
    return table;
}

/// When each interval ended, and then its rows by `write`, which takes its number. Nothing where there is one that is
/// the whole measurement, or they have been written.
void write_intervals(std::ostream& out, const Results& results, const Options& options, const auto& write) {
    const auto& intervals = results.at("intervals");
    if (!options.interval && (options.intervals_shown || intervals.rows.size() < 2)) return;
    for (const auto& row : intervals.rows) {
        out << end_text(table::known<std::int64_t>(intervals.at(row, "end"))) << '\n';
        write(table::count_of(intervals.at(row, "interval")));
    }
}

void write_drop_table(std::ostream& out, const table::Table& drops, const std::string& hidden, bool with_legend,
                      const Options& options) {
    if (!drops.rows.empty()) out << text_of(laid_out(drops), options.screen);
    if (with_legend && !options.quiet && any_benign(drops)) say(out, benign_legend, options);
    if (!hidden.empty()) say(out, hidden, options);
    out << '\n';
}

/// Each with its frames, the innermost first.
void write_stacks(std::ostream& out, const Results& results, const Options& options) {
    const auto& stacks = results.at("stacks_shown");
    if (stacks.rows.empty()) return;
    out << base::wrapped(results.sentence("stacks") + ":", options.width(), 2) << '\n';
    for (const auto& row : stacks.rows) {
        const auto text = fmt::format("{:>5} {}: {}", table::count_of(stacks.at(row, "count")),
                                      reason_text(*table::held<table::Reason>(stacks.at(row, "reason"))),
                                      path_text(*table::held<table::Path>(stacks.at(row, "frames"))));
        out << base::wrapped(text, options.width(), 6) << '\n';
    }
    out << '\n';
}

void write_interval_drops(std::ostream& out, const Results& results, std::int64_t interval, const Options& options) {
    const auto drops = of_interval(results.at("drops", Scope::intervals), interval);
    const auto hidden = of_interval(results.at("benign_by_interval"), interval);
    if (drops.rows.empty() && hidden.rows.empty()) {
        out << "no drops\n\n";
        return;
    }
    const auto text =
        hidden.rows.empty() ? "" : hidden_text(table::sum_of(hidden, "count"), table::sum_of(hidden, "rows"));
    write_drop_table(out, drops, text, options.interval.has_value(), options);
}

/// A heading and a table for each interval, then the total and what its rows mean.
void write_drops(std::ostream& out, const Results& results, const Options& options) {
    write_intervals(out, results, options,
                    [&](std::int64_t interval) { write_interval_drops(out, results, interval, options); });
    if (options.interval) return;
    say(out, results.sentence("drops"), options);
    write_drop_table(out, results.at("drops"), hidden_text(results), true, options);
    if (options.quiet) return;
    auto advice = laid_out(results.at("advice")).rows;
    for (const auto& row : std::span(advice).first(std::min(max_advice, advice.size())))
        out << base::wrapped(fmt::format("{}: {}", row.front().text, row.back().text), options.width(), 2) << '\n';
    if (!advice.empty()) out << '\n';
    write_stacks(out, results, options);
}

/// The first rows; returns them.
table::Table write_count_table(std::ostream& out, const Results& results, table::Table counts, const Options& options) {
    auto rest = counts;
    counts.rows.resize(std::min(options.top, counts.rows.size()));
    rest.rows.erase(rest.rows.begin(), rest.rows.begin() + std::ssize(counts.rows));
    out << text_of(laid_out(counts), options.screen);
    if (const auto rows = rest.rows.size(); rows > 0) {
        const bool has_sum = results.fact("counting", "mixed_units") != table::Value(true);
        const auto sum = has_sum ? fmt::format("{} in ", table::sum_of(rest, "count")) : "";
        say(out, fmt::format("and {}{} more row{}; --top shows more", sum, rows, rows == 1 ? "" : "s"), options);
    }
    out << '\n';
    return counts;
}

/// Likewise.
void write_counts(std::ostream& out, const Results& results, const Options& options) {
    write_intervals(out, results, options, [&](std::int64_t interval) {
        const auto counts = of_interval(results.at("counts", Scope::intervals), interval);
        if (counts.rows.empty()) {
            out << "none\n\n";
        } else {
            write_count_table(out, results, counts, options);
        }
    });
    if (options.interval) return;
    say(out, results.sentence("counts"), options);
    const auto& counts = results.at("counts");
    if (counts.rows.empty()) {
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
    if (results.at("ledger").rows.empty()) return;
    out << text_of(laid_out(results.at("ledger")), options.screen) << '\n';
    for (const auto& sentence : results.sentences("ledger"))
        say(out, sentence, options);
    out << '\n';
}

/// What threads waited for, the worst first.
void write_who(std::ostream& out, const Results& results, const Options& options) {
    auto who = results.at("who");
    if (who.rows.empty()) return;
    const auto rest = who.rows.size() - std::min(options.top, who.rows.size());
    who.rows.resize(who.rows.size() - rest);
    if (!options.quiet) out << base::wrapped(results.sentence("who"), options.width(), 2) << '\n';
    out << text_of(laid_out(who), options.screen);
    if (rest > 0) say(out, fmt::format("and {} more row{}; --top shows more", rest, rest == 1 ? "" : "s"), options);
    out << '\n';
}

std::string share_text(const table::Value& percent) {
    const auto known = table::known<double>(percent);
    return known ? fmt::format("{:.2f}%", *known) : "-";
}

/// In a unit of time, or in cycles where it is not known how long these are.
std::string each(const Results& results, std::int64_t cycles, std::int64_t hits) {
    const auto of_one = cycles / std::max<std::int64_t>(hits, 1);
    const auto per_s = table::known<double>(results.fact("cost", "cycles_per_s"));
    if (!per_s) return fmt::format("{} cycles", base::with_commas(of_one));
    return duration_text(static_cast<double>(of_one) / *per_s * 1e9);
}

std::string headline(const Results& results) {
    const auto fact = [&](std::string_view column) -> const table::Value& { return results.fact("cost", column); };
    const auto hits = table::count_of(fact("hits"));
    auto text = fmt::format("The probes' cost: {} hits", base::with_commas(hits));
    if (const auto expected = table::known<std::int64_t>(fact("expected_hits")))
        text += fmt::format(" ({} expected for this traffic)", base::with_commas(*expected));
    text += fmt::format(", {} each", each(results, table::count_of(fact("cycles")), hits));
    if (const auto& share = fact("one_cpu_percent"); table::held<double>(share) != nullptr) {
        text += fmt::format("; {} of one CPU's time", share_text(share));
        if (const auto cpus = table::count_of(fact("cpus")); cpus > 1)
            text += fmt::format(", {} of all {}", share_text(fact("all_cpus_percent")), cpus);
    }
    return text;
}

}  // namespace

void write_cost(std::ostream& out, const Results& results, const base::Screen& screen) {
    auto probes = results.at("cost.probes");
    if (probes.rows.empty()) return;
    const auto count = [&](const table::Row& row, std::string_view column) {
        return table::count_of(probes.at(row, column));
    };
    std::ranges::stable_sort(probes.rows, std::greater{}, [&](const table::Row& row) { return count(row, "cycles"); });
    Table table{"", {{"HITS"}, {"MEAN"}, {"MAX"}, {"ONE CPU"}, {"PROBE", Kind::text}}};
    for (const auto& row : probes.rows) {
        table.rows.push_back({{base::with_commas(count(row, "hits"))},
                              {each(results, count(row, "cycles"), count(row, "hits"))},
                              {each(results, count(row, "max_cycles"), 1)},
                              {share_text(probes.at(row, "one_cpu_percent"))},
                              {table::text_of(probes.at(row, "point"))}});
    }
    out << '\n' << base::fitted(headline(results), screen.width) << '\n' << text_of(table, screen) << '\n';
}

void write_calls(std::ostream& out, const Results& results, const base::Screen& screen) {
    const auto calls = calls_of(results);
    for (const auto tree : call_trees(calls)) {
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
    for (const auto& more : results.sentences("calls_left_out"))
        out << base::fitted(more, screen.width) << "\n\n";
}

namespace {

void write_report(std::ostream& out, const Results& results, const Options& options) {
    const bool counts_drops = results.fact("counting", "counts_drops") == table::Value(true);
    const bool counts = table::held<std::string>(results.fact("counted", "counted")) != nullptr;
    // A latency recipe may count drops beside its records.
    const bool is_part = options.interval && (counts || (counts_drops && results.at("stages").rows.empty()));
    if (!is_part) write_title(out, results, options);
    write_calls(out, results, options.screen);
    write_stages(out, results, options);
    write_averages(out, results, options);
    write_directions(out, results, options);
    write_who(out, results, options);
    write_ledger(out, results, options);
    if (options.series && !options.interval && !options.quiet && !results.series->blocks().empty()) {
        write_blocks(out, results, "stages", results.series_stages, &table::Block::stages, options.screen);
        write_blocks(out, results, "values", results.series_values, &table::Block::values, options.screen);
    }
    if (counts_drops) write_drops(out, results, options);
    if (counts) write_counts(out, results, options);
    if (const auto counters = losses_table(results); !counters.rows.empty())
        out << base::fitted(counters.caption + ":\n", options.screen.width) << text_of(counters, options.screen)
            << '\n';
    if (!is_part && !options.quiet) {
        const bool has_losses = table::count_of(results.fact("accounting", "lost")) > 0;
        auto ink = has_losses ? base::Ink::bad : base::Ink::plain;
        for (const auto& line : results.sentences("account"))
            say(out, line, options, std::exchange(ink, base::Ink::plain));
    }
    if (!options.quiet) write_cost(out, results, options.screen);
    for (const auto& warning : results.sentences("warning"))
        write_warning(out, warning, options.screen);
    const auto flaws = results.sentences("not_understood");
    if (options.quiet) {
        if (!flaws.empty())
            write_warning(out, flaws.front().substr(0, flaws.front().find_first_of(";:")), options.screen);
        return;
    }
    for (const auto& note : results.at("notes").rows)
        say(out, "note: " + base::printable(table::text_of(note.front())), options);
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
