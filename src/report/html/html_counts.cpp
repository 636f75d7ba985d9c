// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

#include "base/saturate.h"
#include "base/text.h"
#include "report/html/html_sections.h"
#include "report/model/account_text.h"
#include "report/model/slow_records.h"

namespace stapgen::report::html {

namespace {

/// Without the rows beyond the most, and saying so.
Table bounded(Table table) {
    if (table.rows.size() <= max_rows) return table;
    table.below = fmt::format("and {} more rows; --format json or csv has all", table.rows.size() - max_rows);
    table.rows.resize(max_rows);
    return table;
}

Table advice_table(const std::vector<GivenAdvice>& advice) {
    Table table{"What the reasons mean, and where to look",
                {{"REASON", Kind::head}, {"DROPS"}, {"ADVICE", Kind::text}}};
    for (const auto& given : advice)
        table.rows.push_back({{subject_of(given)}, {fmt::format("{}", given.count)}, {std::string(given.advice.text)}});
    return table;
}

/// The reasons with the most drops, as many as a chart has colours, the largest first.
std::vector<std::string> charted_reasons(std::span<const analyze::Drop> drops) {
    constexpr std::size_t most = 7;
    std::map<std::string, std::int64_t> sums;
    for (const auto& drop : drops)
        base::add_saturating(sums[reason_text(drop)], drop.count);
    std::vector<std::string> reasons;
    for (const auto& [reason, sum] : sums)
        reasons.push_back(reason);
    std::ranges::stable_sort(reasons, std::greater{}, [&](const std::string& reason) { return sums.at(reason); });
    if (reasons.size() > most) reasons.resize(most);
    return reasons;
}

/// "12.5": since the measurement began; "-" where it is not known.
std::string since_start(const analyze::Summary& summary, const std::optional<std::int64_t>& epoch_ns) {
    if (!epoch_ns || !summary.start_epoch_ns) return "-";
    return fmt::format("{:.3f}",
                       static_cast<double>(base::saturating_subtract(*epoch_ns, *summary.start_epoch_ns)) / 1e9);
}

/// By reason; what has no column of its own is in DROPS alone.
Table interval_table(const Report& report) {
    const auto& summary = report.summary;
    const auto reasons = charted_reasons(report.interval_drops.rows);
    Table table{"Drops in each interval", {{"FROM [s]"}, {"TO [s]"}, {"ENDED", Kind::text}, {"DROPS"}}};
    for (const auto& reason : reasons)
        table.columns.push_back({reason});
    table.chart = table.stage = "drops";
    std::vector<std::vector<std::int64_t>> counts(summary.intervals.size(),
                                                  std::vector<std::int64_t>(reasons.size() + 1));
    for (const auto& drop : summary.drops) {
        const auto interval = static_cast<std::size_t>(drop.interval);
        if (interval >= counts.size()) continue;
        base::add_saturating(counts[interval].front(), drop.count);
        const auto reason = std::ranges::find(reasons, reason_text(drop));
        if (reason == reasons.end()) continue;
        base::add_saturating(counts[interval][static_cast<std::size_t>(reason - reasons.begin()) + 1], drop.count);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto& interval = summary.intervals[i];
        auto& row = table.rows.emplace_back();
        row.push_back({since_start(summary, interval.start_epoch_ns)});
        row.push_back({since_start(summary, interval.end_epoch_ns)});
        row.push_back({end_text(interval.end_epoch_ns)});
        for (const auto count : counts[i])
            row.push_back({fmt::format("{}", count)});
    }
    return table;
}

Table stack_table(const Report& report) {
    Table table{report.stacks_title, {{"COUNT"}, {"SHARE", Kind::text}, {"REASON", Kind::head}, {"PATH", Kind::text}}};
    const auto sum = analyze::sum_of(report.summary.stacks);
    for (const auto& stack : report.stacks) {
        table.rows.push_back(
            {{fmt::format("{}", stack.count)}, part_cell(stack.count, sum), {reason_text(stack)}, {path_text(stack)}});
    }
    return table;
}

std::string unit_of(const analyze::Average& average) {
    return average.is_time ? average.name + " [us]" : average.name;
}

}  // namespace

Section drops_section(const Report& report) {
    Section section{"drops", "Drops"};
    const auto& [rows, hidden, hidden_rows] = report.drops;
    if (report.summary.counts_drops) {
        section.paragraphs.push_back(report.drops_title);
        if (hidden_rows > 0) section.paragraphs.push_back(hidden_text(report.drops));
        if (any_benign(rows)) section.paragraphs.emplace_back(benign_legend);
        if (!rows.empty()) section.tables.push_back(bounded(drop_table(report.drops)));
        if (!report.advice.empty()) section.tables.push_back(bounded(advice_table(report.advice)));
        if (!report.stacks.empty()) section.tables.push_back(bounded(stack_table(report)));
        if (report.summary.intervals.size() > 1) {
            section.tables.push_back(bounded(interval_table(report)));
            if (!report.summary.drops.empty()) section.chart = "drops";
            if (!report.interval_drops.rows.empty())
                section.tables.push_back(bounded(drop_table(report.interval_drops, true)));
        }
    }
    if (auto counters = counters_table(report.summary.counters); !counters.rows.empty())
        section.tables.push_back(std::move(counters));
    return section;
}

Section tallies_section(const Report& report) {
    Section section{"counts", "Counts"};
    const auto& summary = report.summary;
    if (summary.counted.empty()) return section;
    section.paragraphs.push_back(counts_title(summary, report.counts));
    if (report.counts.empty()) return section;
    section.tables.push_back(bounded(tally_table(summary, report.counts)));
    if (summary.intervals.size() > 1) section.tables.push_back(bounded(tally_table(summary, summary.tallies, true)));
    return section;
}

Section calls_section(const analyze::Summary& summary) {
    Section section{"calls", "Calls"};
    for (const auto tree : call_trees(summary)) {
        auto& lines = section.listings.emplace_back();
        lines.push_back(fmt::format("packet {}", tree.front().packet));
        const auto text = call_tree(tree);
        for (const auto line : base::split(std::string_view(text).substr(0, text.size() - 1), '\n'))
            lines.emplace_back(line);
    }
    if (!section.listings.empty()) {
        section.paragraphs.push_back(
            "AT is when a call began, from the first one on; TOOK has that of the calls in it.");
    }
    if (auto more = calls_left_out(summary); !more.empty()) section.paragraphs.push_back(std::move(more));
    return section;
}

Section averages_section(const analyze::Summary& summary) {
    Section section{"averages", "Averages"};
    if (summary.averages.empty()) return section;
    section.paragraphs.push_back(
        "The input has means only, no distribution. The true mean differs by the error at most.");
    Table whole{"Averages of the whole", {{"NAME", Kind::head}, {"N"}, {"MEAN"}, {"ERROR"}}};
    for (const auto& average : summary.averages) {
        const Style style{average.is_time, 3};
        whole.rows.push_back({{unit_of(average)},
                              {fmt::format("{}", average.n)},
                              {style.cell(average.mean)},
                              {style.cell(average.error)}});
    }
    section.tables.push_back(std::move(whole));

    Table intervals{"Averages of each interval", {{"LINE"}, {"N"}}};
    intervals.folded = true;
    for (const auto& average : summary.averages)
        intervals.columns.push_back({unit_of(average)});
    for (const auto& interval : summary.average_intervals) {
        auto& row = intervals.rows.emplace_back();
        row.push_back({fmt::format("{}", interval.line)});
        row.push_back({fmt::format("{}", interval.n)});
        for (const auto& average : interval.averages) {
            const Style style{average.is_time, 3};
            row.push_back({style.cell(average.mean), fmt::format("off by {} at most", style.cell(average.error))});
        }
        row.resize(intervals.columns.size());
    }
    if (!intervals.rows.empty()) section.tables.push_back(bounded(std::move(intervals)));
    return section;
}

Section account_section(const analyze::Summary& summary) {
    const auto& accounting = summary.accounting;
    Section section{"account", "The account"};
    section.paragraphs = account_lines(summary);
    for (auto& line : not_understood(summary.input))
        section.paragraphs.push_back(std::move(line));

    if (is_sum_of_units(summary)) return section;
    Table table{"Account of everything seen", {{"", Kind::head}, {"COUNT"}, {"SHARE OF SEEN", Kind::text}}};
    const auto add = [&](const std::string& name, std::int64_t count) {
        table.rows.push_back({{name}, {fmt::format("{}", count)}, part_cell(count, accounting.seen)});
    };
    add("reported", accounting.reported);
    add("filtered", accounting.filtered);
    for (const auto& [name, count] : accounting.incomplete)
        if (count != 0) add("incomplete: " + name, count);
    for (const auto& [name, count] : accounting.lost)
        if (count != 0) add("lost: " + name, count);
    if (accounting.unaccounted() != 0) add("unaccounted", accounting.unaccounted());
    section.tables.push_back(std::move(table));
    return section;
}

}  // namespace stapgen::report::html
