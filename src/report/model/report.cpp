// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/model/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "report/model/slow_records.h"

namespace stapgen::report {

namespace {

using analyze::Measure;
using analyze::Summary;

/// Numbers groups in the order in which they come. Those of one group are neighbours, but for merged reports.
class GroupIndex {
  public:
    std::size_t of(const analyze::Group& group) {
        if (last_ < known_.size() && *known_[last_] == group) return last_;
        const auto found = std::ranges::find_if(known_, [&](const auto* one) { return *one == group; });
        last_ = static_cast<std::size_t>(found - known_.begin());
        if (found == known_.end()) known_.push_back(&group);
        return last_;
    }

  private:
    std::vector<const analyze::Group*> known_;
    std::size_t last_ = 0;
};

/// Of each stage the directions whose records have spent time in it, a bit for each.
std::map<std::string, std::uint64_t> directions_of(const Summary& summary) {
    std::map<std::string, std::uint64_t> directions;
    for (std::size_t i = 0; i < summary.breakdowns.size(); ++i) {
        const auto& breakdown = summary.breakdowns[i];
        for (std::size_t stage = 0; stage < breakdown.stages().size(); ++stage) {
            if (breakdown.sum_ns(stage) > 0) directions[breakdown.stages()[stage]] |= std::uint64_t{1} << (i % 64);
        }
    }
    return directions;
}

void set_shares(Rows& rows, const Summary& summary) {
    const auto known = directions_of(summary);
    // A stage of no direction, as "total", is a part of all of them.
    const auto directions = [&](const Row& row) {
        const auto found = known.find(row.measure->name);
        return found == known.end() ? ~std::uint64_t{0} : found->second;
    };
    GroupIndex index;
    std::vector<std::map<std::uint64_t, double>> times;  // of each group, by directions
    for (const auto& row : rows) {
        const auto group = index.of(row.measure->group);
        times.resize(std::max(times.size(), group + 1));
        if (row.measure->name != "total") times[group][directions(row)] += row.measure->stats.sum();
    }
    for (auto& row : rows) {
        double all = 0;
        for (const auto& [of, ns] : times[index.of(row.measure->group)])
            all += (of & directions(row)) != 0 ? ns : 0;
        if (all > 0) row.share = row.measure->stats.sum() / all;
    }
}

Rows without_empty(Rows rows) {
    const auto is_empty = [](const Row& row) { return row.measure->stats.n() == 0; };
    if (!std::ranges::all_of(rows, is_empty)) std::erase_if(rows, is_empty);
    return rows;
}

MeasureRows rows_of(const Summary& summary, const std::vector<Measure>& measures, std::size_t top) {
    MeasureRows rows;
    for (const auto& measure : measures)
        rows.all.push_back({&measure});
    const bool are_stages = &measures == &summary.stages;
    if (are_stages) set_shares(rows.all, summary);
    GroupIndex index;
    std::size_t groups = 0;
    for (const auto& row : rows.all) {
        const auto& measure = *row.measure;
        if (measure.group.empty()) {
            rows.whole.push_back(row);
            continue;
        }
        const auto number = index.of(measure.group);
        groups = std::max(groups, number + 1);
        if (number < top) {
            rows.groups.push_back(row);
            continue;
        }
        const auto found = std::ranges::find(rows.rest, measure.name, &Measure::name);
        if (found == rows.rest.end()) {
            rows.rest.push_back({measure.name, {{"other", true}}, measure.stats});
        } else {
            found->stats += measure.stats;
        }
    }
    Rows rest;
    for (const auto& measure : rows.rest)
        rest.push_back({&measure, {}, true});
    if (are_stages) set_shares(rest, summary);
    rows.groups.insert(rows.groups.end(), rest.begin(), rest.end());
    rows.in_rest = groups - std::min(groups, top);
    if (groups < 2) rows.groups.clear();
    rows.whole = without_empty(std::move(rows.whole));
    rows.groups = without_empty(std::move(rows.groups));
    return rows;
}

/// Of each reason the most frequent paths, and how many others there are.
void put_stacks(Report& report) {
    report.all_stacks = analyze::total_stacks(report.summary);
    std::map<std::string, std::size_t> shown;
    std::size_t others = 0;
    for (const auto& stack : report.all_stacks) {
        if (++shown[reason_text(stack.reason)] <= report.summary.stacks_shown) {
            report.stacks.push_back(stack);
        } else {
            ++others;
        }
    }
    const auto most = report.summary.stacks_shown;
    report.stacks_title =
        fmt::format("Call paths, the {}most frequent of each reason", most == 1 ? "" : fmt::format("{} ", most));
    if (others > 0) report.stacks_title += fmt::format("; --format folded has {} more", others);
}

}  // namespace

Style style_of(const Rows& rows, bool is_time) {
    std::int64_t largest = 0;
    for (const auto& row : rows)
        largest = std::max(largest, row.measure->stats.max().value_or(0));
    return {is_time, largest < 100'000'000 ? 3 : 2};
}

std::string too_few_text(const Rows& rows, const std::vector<table::Percentile>& percentiles) {
    std::string needs;
    for (const auto& [text, percent] : percentiles) {
        const bool missing =
            std::ranges::any_of(rows, [p = percent](const Row& row) { return !row.measure->stats.percentile(p); });
        if (!missing) continue;
        needs += fmt::format("{} P{} needs {}", needs.empty() ? "" : ",", text, table::values_needed(percent));
    }
    return needs.empty() ? needs : "-: not enough samples;" + needs;
}

Measures in_series(const std::vector<Measure>& measures) {
    Measures whole;
    for (const auto& measure : measures) {
        if (measure.group.empty()) whole.push_back(&measure);
    }
    return whole;
}

Report::Report(const Summary& of, const Options& shown)
    : summary(of),
      options(shown),
      stages(rows_of(of, of.stages, shown.top)),
      values(rows_of(of, of.values, shown.top)) {
    for (const auto& breakdown : summary.breakdowns) {
        if (breakdown.total().n() == 0) continue;
        directions.push_back(
            {breakdown, tail_sentence(breakdown, tail_percent), breakdown.tail(tail_percent), breakdown.slowest()});
    }
    share_is_of_direction = directions.size() > 1;

    Rows tables;
    for (const auto* rows : {&stages, &values}) {
        tables.insert(tables.end(), rows->whole.begin(), rows->whole.end());
        if (options.top > 0) tables.insert(tables.end(), rows->groups.begin(), rows->groups.end());
    }
    const auto in_rest = std::max(stages.in_rest, values.in_rest);
    if (in_rest > 0 && options.top > 0)
        footnotes.push_back(fmt::format("rest: {} smaller group{}", in_rest, in_rest == 1 ? "" : "s together"));
    if (auto text = too_few_text(tables, options.percentiles); !text.empty()) footnotes.push_back(std::move(text));
    if (share_is_of_direction && !stages.whole.empty())
        footnotes.emplace_back("SHARE: of the time of all stages of the same direction");
    if (summary.resolution_ns > 1 && !stages.whole.empty()) {
        footnotes.push_back(fmt::format("times are multiples of {}", duration_text(summary.resolution_ns)));
    }

    const auto totals = analyze::total_drops(summary);
    drops_title = totals.empty() ? "no drops in all" : total_text(totals);
    drops = shown_drops(totals, options.hide_benign);
    interval_drops = shown_drops(summary.drops, options.hide_benign);
    advice = advice_for(drops.rows);
    put_stacks(*this);
    counts = analyze::total_tallies(summary);
}

}  // namespace stapgen::report
