#include <fmt/format.h>

#include <algorithm>

#include "base/saturate.h"
#include "base/text.h"
#include "report/html/html_sections.h"
#include "report/model/account_text.h"
#include "report/model/call_tree.h"
#include "report/model/counts.h"
#include "report/model/drop_advice.h"
#include "report/model/measures.h"
#include "report/model/wall_time.h"

namespace stapgen::report::html {

namespace {

using analyze::Drop;

double part_of(std::int64_t count, std::int64_t all) {
    return all > 0 ? static_cast<double>(count) / static_cast<double>(all) : 0;
}

std::string when(const std::optional<std::int64_t>& end) {
    return end ? local_time(*end) : "after the last tick";
}

/// Drops rows beyond the most, and says so.
void bound(Table& table) {
    if (table.rows.size() <= max_rows) return;
    table.below = fmt::format("and {} more rows; --format json or csv has all", table.rows.size() - max_rows);
    table.rows.resize(max_rows);
}

Cell reason_cell(const Drop& drop) {
    const auto advice = advice_of(drop);
    auto reason = reason_text(drop);
    if (!advice.benign) return {.text = std::move(reason), .title = std::string(advice.text)};
    return {.text = fmt::format("{} {}", reason, benign_mark), .title = std::string(advice.text), .mark = "benign"};
}

Table total_table(const std::vector<Drop>& totals, std::int64_t sum) {
    Table table{"Drops by place and reason",
                {{"COUNT"}, {"SHARE", Kind::text}, {"LOCATION", Kind::head}, {"REASON", Kind::text}}};
    for (const auto& drop : totals) {
        const auto part = part_of(drop.count, sum);
        table.rows.push_back({{fmt::format("{}", drop.count)},
                              {.text = percent(part), .bar = part},
                              {place_text(drop)},
                              reason_cell(drop)});
    }
    bound(table);
    return table;
}

Table advice_table(const std::vector<GivenAdvice>& advice) {
    Table table{"What the reasons mean, and where to look",
                {{"REASON", Kind::head}, {"DROPS"}, {"ADVICE", Kind::text}}};
    for (const auto& given : advice) {
        table.rows.push_back({{subject_of(given)}, {fmt::format("{}", given.count)}, {std::string(given.advice.text)}});
    }
    bound(table);
    return table;
}

Table interval_table(const analyze::Summary& summary) {
    std::vector<std::int64_t> sums(summary.intervals.size());
    for (const auto& drop : summary.drops) {
        const auto interval = static_cast<std::size_t>(drop.interval);
        if (interval < sums.size()) sums[interval] = base::saturating_add(sums[interval], drop.count);
    }
    const auto most = sums.empty() ? 0 : *std::ranges::max_element(sums);
    Table table{"Drops in each interval", {{"ENDED", Kind::head}, {"DROPS"}, {"", Kind::text}}};
    for (std::size_t i = 0; i < sums.size(); ++i) {
        table.rows.push_back(
            {{when(summary.intervals[i].end_epoch_ns)}, {fmt::format("{}", sums[i])}, {.bar = part_of(sums[i], most)}});
    }
    bound(table);
    return table;
}

Table interval_places_table(const std::vector<Drop>& drops) {
    Table table{"Places and reasons in each interval",
                {{"ENDED", Kind::head}, {"COUNT"}, {"LOCATION", Kind::text}, {"REASON", Kind::text}}};
    table.folded = true;
    for (const auto& drop : drops) {
        table.rows.push_back(
            {{when(drop.end_epoch_ns)}, {fmt::format("{}", drop.count)}, {place_text(drop)}, reason_cell(drop)});
    }
    bound(table);
    return table;
}

Table counters_table(const std::vector<analyze::Counter>& counters) {
    Table table{"Losses without a drop event, by the kernel's counters of this network namespace",
                {{"COUNT"}, {"COUNTER", Kind::head}, {"WHAT", Kind::text}}};
    for (const auto& [name, help, count] : counters) {
        if (count.value_or(0) > 0) table.rows.push_back({{fmt::format("{}", *count)}, {name}, {help}});
    }
    return table;
}

Table tallies_table(const std::string& caption, const analyze::Summary& summary,
                    const std::vector<analyze::Tally>& tallies, bool by_interval) {
    Table table{caption, {}};
    if (by_interval) table.columns.push_back({"ENDED", Kind::head});
    table.columns.push_back({base::upper(summary.counted)});
    if (!summary.mixed_units) table.columns.push_back({"SHARE", Kind::text});
    const bool any_rate = std::ranges::any_of(tallies, [](const auto& tally) { return tally.per_s.has_value(); });
    if (any_rate) table.columns.push_back({"PER S"});
    const auto keys = keys_of(tallies);
    for (const auto& key : keys)
        table.columns.push_back({base::upper(key), Kind::text});
    const bool any_loss = has_losses(tallies);
    if (any_loss) table.columns.push_back({"LOSS", Kind::text});
    const bool has_meanings = !by_interval && !meanings_of(tallies).empty();
    if (has_meanings) table.columns.push_back({"WHAT", Kind::text});
    const auto sum = analyze::sum_of(tallies);
    for (const auto& tally : tallies) {
        auto& row = table.rows.emplace_back();
        const auto part = part_of(tally.count, sum);
        if (by_interval) row.push_back({when(tally.end_epoch_ns)});
        row.push_back({fmt::format("{}", tally.count)});
        if (!summary.mixed_units) row.push_back({.text = percent(part), .bar = part});
        if (any_rate) row.push_back({tally.per_s ? per_second_text(*tally.per_s) : "-"});
        for (const auto& key : keys)
            row.push_back({key_cell(tally, key, key == keys.front())});
        if (any_loss) row.push_back({std::string(loss_cell(tally))});
        if (has_meanings) row.push_back({tally.meaning});
    }
    table.folded = by_interval;
    bound(table);
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
        if (std::ranges::any_of(rows, [](const Drop& drop) { return advice_of(drop).benign; }))
            section.paragraphs.emplace_back(benign_legend);
        if (!rows.empty())
            section.tables.push_back(total_table(rows, base::saturating_add(analyze::sum_of(rows), hidden)));
        if (!report.advice.empty()) section.tables.push_back(advice_table(report.advice));
        if (report.summary.intervals.size() > 1) {
            section.tables.push_back(interval_table(report.summary));
            if (const auto& drops = report.interval_drops.rows; !drops.empty())
                section.tables.push_back(interval_places_table(drops));
        }
    }
    if (auto counters = counters_table(report.summary.counters); !counters.rows.empty()) {
        section.tables.push_back(std::move(counters));
    }
    return section;
}

Section tallies_section(const Report& report) {
    Section section{"counts", "Counts"};
    const auto& summary = report.summary;
    if (summary.counted.empty()) return section;
    section.paragraphs.push_back(counts_title(summary, report.counts));
    if (report.counts.empty()) return section;
    section.tables.push_back(tallies_table("The whole", summary, report.counts, false));
    if (summary.intervals.size() > 1)
        section.tables.push_back(tallies_table("In each interval", summary, summary.tallies, true));
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
        "The input has means only: their distribution is not known. The true mean is off by the error at most.");
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
    bound(intervals);
    if (!intervals.rows.empty()) section.tables.push_back(std::move(intervals));
    return section;
}

Section account_section(const analyze::Summary& summary) {
    const auto& accounting = summary.accounting;
    Section section{"account", "The account"};
    section.paragraphs = account_lines(summary);
    for (auto& line : not_understood(summary.input))
        section.paragraphs.push_back(std::move(line));

    if (is_sum_of_units(summary)) return section;
    Table table{"Where everything went that was seen", {{"", Kind::head}, {"COUNT"}, {"SHARE OF SEEN", Kind::text}}};
    const auto add = [&](const std::string& name, std::int64_t count) {
        const auto part = part_of(count, accounting.seen);
        table.rows.push_back({{name}, {fmt::format("{}", count)}, {.text = percent(part), .bar = part}});
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
