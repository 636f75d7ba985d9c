// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/saturate.h"
#include "base/text.h"
#include "show/model/calls.h"
#include "show/model/hosts.h"
#include "show/model/layout.h"
#include "show/text/sections.h"
#include "table/merge.h"

namespace stapgen::show {

namespace {

/// The number of lines of advice, for the reasons with the most drops.
constexpr std::size_t max_advice = 8;

void write_title(const Text& to) {
    const auto& sentences = to.results.sentences;
    for (const auto& line : sentences.kept)
        to.say_wrapped(line);
    auto title = base::printable(to.results.one<rows::Report>().recipe);
    if (!sentences.span.empty()) title += ", " + sentences.span;
    to.say(title);
    for (const auto& line : to.options.quiet ? table::Texts() : sentences.origin)
        to.say_wrapped(line);
    to.out << '\n';
}

/// The stage that the sentence finds comes first in its second part.
std::string with_stage_painted(std::string sentence, const std::string& stage, const base::Screen& screen) {
    const auto at = stage.empty() ? std::string::npos : sentence.find(stage, sentence.find(';'));
    if (at != std::string::npos) sentence.replace(at, stage.size(), painted(stage, base::Ink::strong, screen));
    return sentence;
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
void write_intervals(const Text& to, const auto& write) {
    const auto& intervals = to.results.of<rows::Interval>();
    if (!to.options.interval && (to.options.intervals_shown || intervals.size() < 2)) return;
    for (const auto& row : intervals) {
        to.out << end_text(row.end) << '\n';
        write(row.interval);
    }
}

void write_drop_table(const Text& to, const std::vector<rows::Drop>& drops, const std::string& hidden,
                      bool with_legend) {
    if (!drops.empty()) to.out << text_of(laid_out(drops), to.options.screen);
    if (with_legend && !to.options.quiet && any_benign(drops)) to.say(benign_legend);
    if (!hidden.empty()) to.say(hidden);
    to.out << '\n';
}

/// Each with its frames, the innermost first.
void write_stacks(const Text& to) {
    if (to.results.stacks_shown.empty()) return;
    to.say_wrapped(to.results.sentences.stacks + ":");
    for (const auto& row : to.results.stacks_shown)
        to.say_wrapped(fmt::format("{:>5} {}: {}", row.count, reason_text(row.reason), path_text(*row.frames)), 6);
    to.out << '\n';
}

void write_interval_drops(const Text& to, std::int64_t interval) {
    const auto drops = of_interval(to.results.of<rows::OfInterval<rows::Drop>>(), interval);
    std::int64_t hidden_drops = 0, hidden_rows = 0;
    for (const auto& hidden : to.results.of<rows::HiddenOfInterval>()) {
        if (hidden.interval != interval) continue;
        base::add_saturating(hidden_drops, hidden.count);
        hidden_rows += hidden.rows;
    }
    if (drops.empty() && hidden_rows == 0) {
        to.out << "no drops\n\n";
        return;
    }
    write_drop_table(to, drops, hidden_text(hidden_drops, hidden_rows), to.options.interval.has_value());
}

/// The first rows; returns them.
std::vector<rows::Count> write_count_table(const Text& to, std::vector<rows::Count> counts) {
    const auto shown = counts.begin() + static_cast<std::ptrdiff_t>(std::min(to.options.top, counts.size()));
    const std::vector<rows::Count> rest(shown, counts.end());
    counts.erase(shown, counts.end());
    to.out << text_of(laid_out(counts), to.options.screen);
    const bool has_sum = !to.results.one<rows::Counting>().mixed_units;
    to.say_rest(rest.size(), has_sum ? fmt::format("{} in ", base::saturating_sum(rest, &rows::Count::count)) : "");
    to.out << '\n';
    return counts;
}

/// Whether it is of one interval, and has neither title nor account.
bool is_part(const Text& to) {
    // A latency recipe may count drops beside its records.
    const bool counts_drops_only = to.results.counts_drops() && to.results.of<rows::Stage>().empty();
    return to.options.interval && (section::Counts::is_in(to.results) || counts_drops_only);
}

}  // namespace

void draw(const Text& to, const Sheet& sheet) {
    for (const auto& sentence : sheet.sentences)
        to.say(sentence);
    if (sheet.sentences.empty()) to.say(sheet.table.caption + ":");
    auto table = sheet.table;
    const auto rest = sheet.largest_first ? table.rows.size() - std::min(to.options.top, table.rows.size()) : 0;
    table.rows.resize(table.rows.size() - rest);
    to.out << text_of(table, to.options.screen);
    to.say_rest(rest);
    to.out << '\n';
}

void draw(const Text& to, section::Calls /*section*/) {
    const auto width = to.options.screen.width;
    for (const auto tree : call_trees(to.results.of<Call>())) {
        to.out << "packet " << tree.front().packet << '\n';
        const auto text = call_tree(tree);
        for (const auto line : base::split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
            // What a function's name has no room for goes on below it.
            const auto bar = line.find('|');
            const auto name = bar == std::string_view::npos ? bar : line.find_first_not_of(" |", bar);
            const auto begin = std::min(line.find_first_not_of(' '), line.size());
            to.out << base::fitted(line, width, name == std::string_view::npos ? 2 : name - begin + 2) << '\n';
        }
        to.out << '\n';
    }
    if (const auto& more = to.results.sentences.calls_left_out; !more.empty())
        to.out << base::fitted(more, width) << "\n\n";
}

void draw(const Text& to, section::Tail /*section*/) {
    const auto& ways = to.results.of<rows::Way>();
    for (const auto& tail : to.results.of<rows::Tail>()) {
        const auto way = std::ranges::find(ways, tail.number, &rows::Way::number);
        const auto stage = base::printable(way->tail_stage.value_or(""));
        const auto sentence = base::wrapped(tail.sentence, to.options.width());
        to.out << with_stage_painted(sentence, stage, to.options.screen) << "\n\n";
    }
}

/// A heading and a table for each interval, then the total and what its rows mean.
void draw(const Text& to, section::Drops /*section*/) {
    write_intervals(to, [&](std::int64_t interval) { write_interval_drops(to, interval); });
    if (to.options.interval) return;
    to.say(to.results.sentences.drops);
    write_drop_table(to, to.results.of<rows::Drop>(), hidden_text(to.results), true);
    if (to.options.quiet) return;
    auto advice = laid_out(to.results.of<rows::Advice>()).rows;
    for (const auto& row : std::span(advice).first(std::min(max_advice, advice.size())))
        to.say_wrapped(fmt::format("{}: {}", row.front().text, row.back().text));
    if (!advice.empty()) to.out << '\n';
    write_stacks(to);
}

/// A heading and a table for each interval, then all of them together.
void draw(const Text& to, section::Counts /*section*/) {
    write_intervals(to, [&](std::int64_t interval) {
        const auto counts = of_interval(to.results.of<rows::OfInterval<rows::Count>>(), interval);
        if (counts.empty()) {
            to.out << "none\n\n";
        } else {
            write_count_table(to, counts);
        }
    });
    if (to.options.interval) return;
    to.say(to.results.sentences.counts);
    const auto& counts = to.results.of<rows::Count>();
    if (counts.empty()) {
        to.out << '\n';
        return;
    }
    const auto meanings = meanings_of(write_count_table(to, counts));
    if (to.options.quiet) return;
    for (const auto& [name, meaning] : meanings)
        to.say_wrapped(fmt::format("{}: {}", name, base::printable(meaning)));
    if (!meanings.empty()) to.out << '\n';
}

void draw(const Text& to, section::Cost section) {
    if (!to.options.quiet) draw(to, section.sheet(to.results));
}

void draw(const Text& to, section::Account /*section*/) {
    if (is_part(to) || to.options.quiet) return;
    auto ink = to.results.one<rows::Accounting>().lost > 0 ? base::Ink::bad : base::Ink::plain;
    for (const auto& line : to.results.sentences.account)
        to.say(line, std::exchange(ink, base::Ink::plain));
}

void Text::say(std::string_view text, base::Ink ink) const {
    out << painted(base::fitted(text, options.screen.width), ink, options.screen) << '\n';
}

void Text::say_wrapped(std::string_view text, std::size_t indent) const {
    out << base::wrapped(text, options.width(), indent) << '\n';
}

void Text::say_rest(std::size_t rows, std::string_view sum) const {
    if (rows > 0) say(fmt::format("and {}{} more row{}; --top shows more", sum, rows, rows == 1 ? "" : "s"));
}

namespace {

void write_report(const Text& to) {
    if (!is_part(to)) write_title(to);
    each_section(to.results, [&](auto section) { draw(to, section); });
    for (const auto& warning : to.results.sentences.warnings)
        write_warning(to.out, warning, to.options.screen);
    const auto& flaws = to.results.sentences.not_understood;
    if (to.options.quiet) {
        if (!flaws.empty())
            write_warning(to.out, flaws.front().substr(0, flaws.front().find_first_of(";:")), to.options.screen);
        return;
    }
    for (const auto& [note] : to.results.of<rows::Note>())
        to.say("note: " + base::printable(note));
    for (const auto& line : flaws)
        to.say(line);
}

void write(std::ostream& out, const Reports& reports, const Options& options) {
    for (std::size_t i = 0; i < reports.size(); ++i) {
        if (i > 0) out << '\n';
        const auto results = reports.results(i, options);
        write_report({out, results, options});
    }
}

void write_hosts(std::ostream& out, const Hosts& hosts, const Reports& reports, const Options& options) {
    const auto table = hosts_table(hosts, options.top);
    if (!hosts.verdict.empty())
        out << base::fitted(base::printable(hosts.verdict) + ".\n", options.screen.width) << '\n';
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
                              .write_whys = write_whys,
                              .write_comparisons = write_comparisons,
                              .write_hosts = write_hosts,
                              .records = event_table,
                              .intervals = true};

}  // namespace stapgen::show
