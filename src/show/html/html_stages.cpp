// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "show/html/html_scale.h"
#include "show/html/html_sections.h"
#include "show/model/slow_records.h"

namespace stapgen::show::html {

namespace {

using Records = std::vector<SlowRecord>;
using table::count_of, table::held, table::known, table::real_of, table::text_of;

/// " of rx"; nothing where there is one direction only.
std::string of_direction(const std::string& way) {
    return way.empty() ? "" : " of " + way;
}

Table groups_table(const table::Results& results, std::string_view name, const Options& options) {
    auto groups = group_rows(results, name, options.top);
    std::erase_if(groups.rows,
                  [&](const table::Row& row) { return is_rest(*held<table::Group>(groups.at(row, "group"))); });
    if (groups.rows.empty()) return {};
    auto table = measures_table(results, groups, style_of(groups), options.percentiles);
    if (const auto in_rest = groups_in_rest(results, name, options.top); in_rest > 0)
        table.below = fmt::format("and {} smaller groups{}{}", in_rest, table.below.empty() ? "" : "; ", table.below);
    return table;
}

/// Of one direction, a row of the table "tail".
Table tail_table(const table::Results& results, const table::Row& tail) {
    const auto& tails = results.at("tail");
    const auto& stages = results.at("tail.stages");
    const auto fact = [&](std::string_view column) { return tails.at(tail, column); };
    const Style style;
    Table table{fmt::format("{}{} above P{:g} ({}) against {} others, means in microseconds", count_of(fact("n_slow")),
                            of_direction(text_of(fact("way"))), real_of(fact("percent")),
                            duration_text(count_of(fact("threshold_ns"))), count_of(fact("n_rest"))),
                {{"STAGE", Kind::head},
                 {"MEAN, OTHERS"},
                 {"MEAN, SLOW"},
                 {"SHARE, OTHERS", Kind::text},
                 {"SHARE, SLOW", Kind::text},
                 {"SHARE OF EXTRA TIME", Kind::text}}};
    for (const auto& row : stages.rows) {
        const auto number = [&](std::string_view column) { return real_of(stages.at(row, column)); };
        if (row.front() != tail.front() || (number("slow_mean_ns") == 0 && number("rest_mean_ns") == 0)) continue;
        const auto stage = text_of(stages.at(row, "stage"));
        const auto colour = colour_of_stage(results, stage);
        table.rows.push_back({stage_cell(stage, colour),
                              {style.cell(number("rest_mean_ns"))},
                              {style.cell(number("slow_mean_ns"))},
                              bar_cell(number("rest_share"), colour),
                              bar_cell(number("slow_share"), colour),
                              bar_cell(number("excess_share"), colour)});
    }
    table.rows.push_back({{"all"},
                          {style.cell(real_of(fact("rest_mean_ns")))},
                          {style.cell(real_of(fact("slow_mean_ns")))},
                          {},
                          {},
                          {}});
    return table;
}

/// A row of the table "ways", and all time of its stages that have some.
struct Way {
    std::string name;
    double n = 0, sum_ns = 0;
    std::vector<std::pair<std::string, double>> stages_ns{};

    [[nodiscard]] double mean_ns() const { return n > 0 ? sum_ns / n : 0; }
};

std::vector<Way> ways_of(const table::Results& results) {
    const auto& ways = results.at("ways");
    const auto& stages = results.at("ways.stages");
    std::vector<Way> all;
    for (const auto& row : ways.rows) {
        Way way{text_of(ways.at(row, "way")), static_cast<double>(count_of(ways.at(row, "n")))};
        for (const auto& stage : stages.rows) {
            const auto sum_ns = real_of(stages.at(stage, "sum_ns"));
            if (stage.front() != row.front() || sum_ns <= 0) continue;
            way.stages_ns.emplace_back(text_of(stages.at(stage, "stage")), sum_ns);
            way.sum_ns += sum_ns;
        }
        all.push_back(std::move(way));
    }
    return all;
}

/// The time of day it ended; without an epoch, times are those of the series: since its first block.
std::string ended(const table::Results& results, const SlowRecord& record) {
    return record.time_ns && has_epoch(results) ? local_time_of_day(*record.time_ns) : "-";
}

Timelines timelines_of(const table::Results& results, const std::string& way, const Records& records) {
    const auto longest = std::ranges::max(records, {}, &SlowRecord::length_ns).length_ns;
    Timelines timelines{{}, linear_ticks(longest, true)};
    for (const auto& record : records) {
        auto& row = timelines.rows.emplace_back();
        row.label = fmt::format("#{} {}", timelines.rows.size(), duration_text(record.total_ns));
        const auto name = record_name(way, record.of);
        row.text = fmt::format("{}{}{}", ended(results, record), name.empty() ? "" : ", ", name);
        for (const auto& [stage, begin_ns, ns, parts] : record.steps) {
            auto text = fmt::format("{} {}, from {} on", stage, duration_text(ns), duration_text(begin_ns));
            for (const auto& [cause, part_ns] : parts)
                text += fmt::format("; {} {}", cause, duration_text(part_ns));
            row.segments.push_back({std::move(text), static_cast<double>(ns) / static_cast<double>(longest),
                                    colour_of_stage(results, stage).value_or(0)});
        }
    }
    return timelines;
}

/// A column for each stage that one of the records has.
Table slowest_table(const table::Results& results, const table::Row& tail, const Records& records) {
    Table table{fmt::format("The slowest {}{}, in microseconds", records.size(),
                            of_direction(text_of(results.at("tail").at(tail, "way")))),
                {{"#"}, {"ENDED", Kind::text}, {"TOTAL"}}};
    const auto step_of = [](const SlowRecord& record, const std::string& stage) {
        const auto step = std::ranges::find(record.steps, stage, &SlowRecord::Step::stage);
        return step == record.steps.end() ? std::nullopt : std::optional(step->ns);
    };
    std::vector<std::string> stages;
    const auto& all = results.at("ways.stages");
    for (const auto& row : all.rows) {
        const auto stage = text_of(all.at(row, "stage"));
        const auto has_it = [&](const SlowRecord& record) { return step_of(record, stage).has_value(); };
        if (row.front() != tail.front() || std::ranges::none_of(records, has_it)) continue;
        stages.push_back(stage);
        table.columns.push_back({stage});
    }
    table.columns.push_back({"OF", Kind::text});
    const Style style;
    for (const auto& record : records) {
        auto& row = table.rows.emplace_back();
        row.push_back({fmt::format("{}", table.rows.size())});
        row.push_back({ended(results, record)});
        row.push_back({style.cell(record.total_ns)});
        for (const auto& stage : stages)
            row.push_back({style.cell(step_of(record, stage))});
        row.push_back({group_text(record.of)});
    }
    return table;
}

}  // namespace

const table::Histogram* stage_of(const table::Results& results, std::string_view name) {
    for (const auto& stage : measured(results.at("stages"))) {
        if (stage.group.empty() && stage.name == name) return &stage.stats;
    }
    return nullptr;
}

std::string first_stage_of(const table::Results& results) {
    std::string first;
    double most = -1;
    const auto whole = undivided_stages(results);
    for (const auto& stage : measured(whole)) {
        if (stage.name == "total" && stage.stats.n() > 0) return stage.name;
        if (stage.stats.sum() <= most) continue;
        most = stage.stats.sum();
        first = stage.name;
    }
    return first;
}

double max_mean_of(const table::Results& results) {
    double longest = 0;
    for (const auto& way : ways_of(results))
        longest = std::max(longest, way.mean_ns());
    return longest;
}

std::vector<Stack> stacks_of(const table::Results& results, double max_ns) {
    if (max_ns <= 0) max_ns = max_mean_of(results);
    std::vector<Stack> stacks;
    for (const auto& way : ways_of(results)) {
        const auto mean = way.mean_ns();
        if (mean <= 0) continue;
        Stack stack{way.name, fmt::format("{} on average", duration_text(mean)), {}};
        for (const auto& [stage, sum_ns] : way.stages_ns) {
            const auto part = sum_ns / way.n;
            stack.segments.push_back({fmt::format("{} {}, {}", stage, duration_text(part), percent(part / mean)),
                                      part / max_ns, colour_of_stage(results, stage).value_or(0)});
        }
        stacks.push_back(std::move(stack));
    }
    return stacks;
}

std::vector<Segment> legend_of(const table::Results& results) {
    std::vector<Segment> legend;
    for (const auto& way : ways_of(results)) {
        for (const auto& [stage, sum_ns] : way.stages_ns) {
            // Directions may have the same stages.
            if (std::ranges::find(legend, stage, &Segment::name) == legend.end())
                legend.push_back({stage, 0, colour_of_stage(results, stage).value_or(0)});
        }
    }
    return legend;
}

Section stages_section(const table::Results& results, const Options& options) {
    Section section{"stages", "Where the time goes"};
    if (!results.at("stages").rows.empty()) {
        section.stacks = stacks_of(results);
        section.legend = legend_of(results);
    }
    if (auto text = results.sentence("reads"); !text.empty()) section.paragraphs.push_back(std::move(text));
    for (const auto* name : {"stages", "values"}) {
        if (const auto rows = whole_rows(results, name); !rows.rows.empty())
            section.tables.push_back(measures_table(results, rows, style_of(rows), options.percentiles));
    }
    return section;
}

Section tail_section(const table::Results& results) {
    Section section{"tail", "Where the tail comes from"};
    const auto& tails = results.at("tail");
    for (const auto& row : tails.rows) {
        if (known<std::int64_t>(tails.at(row, "threshold_ns"))) section.tables.push_back(tail_table(results, row));
    }
    return section;
}

Section slowest_section(const table::Results& results) {
    Section section{"slowest", "The slowest"};
    const auto& tails = results.at("tail");
    for (const auto& tail : tails.rows) {
        const auto records = slowest_of(results, tail.front());
        if (records.empty()) continue;
        section.timelines.push_back(timelines_of(results, text_of(tails.at(tail, "way")), records));
        section.tables.push_back(slowest_table(results, tail, records));
    }
    if (!section.tables.empty()) section.legend = legend_of(results);
    return section;
}

Section groups_section(const table::Results& results, const Options& options) {
    Section section{"groups", "Groups"};
    for (const auto* name : {"stages", "values"}) {
        if (auto table = groups_table(results, name, options); !table.rows.empty())
            section.tables.push_back(std::move(table));
    }
    return section;
}

}  // namespace stapgen::show::html
