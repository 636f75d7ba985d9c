// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "kinds/latency/waits.h"
#include "schema/schema.h"
#include "show/html/html_scale.h"
#include "show/html/html_sections.h"
#include "show/model/slow_records.h"

namespace stapgen::show::html {

namespace {

using Records = std::vector<SlowRecord>;

/// " of rx"; nothing where there is one direction only.
std::string of_direction(const std::string& way) {
    return way.empty() ? "" : " of " + way;
}

Table groups_table(const rows::Results& results, bool are_times, const Options& options) {
    auto groups = group_rows(results, are_times, options.top);
    std::erase_if(groups.rows, [](const MeasureRow& row) { return is_rest(row.group); });
    if (groups.rows.empty()) return {};
    auto table = measures_table(results, groups, style_of(groups), options.percentiles);
    if (const auto in_rest = groups_in_rest(results, are_times, options.top); in_rest > 0)
        table.below = fmt::format("and {} smaller groups{}{}", in_rest, table.below.empty() ? "" : "; ", table.below);
    return table;
}

/// Of one direction, whose threshold is known.
Table tail_table(const rows::Results& results, const rows::Tail& tail) {
    const Style style;
    const auto coloured = coloured_stages(results);
    Table table{fmt::format("{}{} above P{:g} ({}) against {} others, means in microseconds", *tail.n_slow,
                            of_direction(tail.way), tail.percent, duration_text(*tail.threshold_ns), *tail.n_rest),
                {{"STAGE", Kind::head},
                 {"MEAN, OTHERS"},
                 {"MEAN, SLOW"},
                 {"SHARE, OTHERS", Kind::text},
                 {"SHARE, SLOW", Kind::text},
                 {"SHARE OF EXTRA TIME", Kind::text}}};
    for (const auto& row : tail.stages) {
        if (row.slow_mean_ns == 0 && row.rest_mean_ns == 0) continue;
        const auto colour = colour_of_stage(coloured, row.stage);
        table.rows.push_back({stage_cell(row.stage, colour),
                              {style.cell(row.rest_mean_ns)},
                              {style.cell(row.slow_mean_ns)},
                              bar_cell(row.rest_share, colour),
                              bar_cell(row.slow_share, colour),
                              bar_cell(row.excess_share, colour)});
    }
    table.rows.push_back({{"all"}, {style.cell(tail.rest_mean_ns)}, {style.cell(tail.slow_mean_ns)}, {}, {}, {}});
    return table;
}

/// A part of a stage, or what is not divided further.
struct Piece {
    std::string name;
    double ns = 0;
    bool is_rest = false;  ///< of a stage whose parts are others

    [[nodiscard]] std::string text() const { return name + (is_rest ? ", rest" : ""); }
    [[nodiscard]] std::string label() const {
        return std::string(schema::is_part(name) ? schema::cause_of(name) : name);
    }
};
using Pieces = std::vector<Piece>;

/// Adds a stage; divided, if its parts fit into it.
void add_pieces(Pieces& pieces, const std::string& stage, double ns, Pieces parts) {
    std::erase_if(parts, [](const Piece& part) { return part.ns <= 0; });
    double rest = ns;
    for (const auto& part : parts)
        rest -= part.ns;
    // What was aggregated is rounded.
    constexpr double rounding = 0.002;
    if (rest < -std::max(1.0, rounding * ns)) parts.clear(), rest = ns;
    const bool is_rest = !parts.empty();
    std::ranges::move(parts, std::back_inserter(pieces));
    if (rest >= 1) pieces.push_back({stage, rest, is_rest});
}

/// All time of a direction.
Pieces pieces_of(const rows::Results& results, const rows::Way& way) {
    const auto has = [](const rows::Way& of, const std::string& stage) {
        const auto found = std::ranges::find(of.stages, stage, &rows::StageOfWay::stage);
        return found != of.stages.end() && found->sum_ns > 0;
    };
    Pieces pieces;
    for (const auto& [stage, sum_ns] : way.stages) {
        Pieces parts;
        // Of a stage that several directions have, the parts are those of all together.
        const auto ways =
            std::ranges::count_if(results.of<rows::Way>(), [&](const auto& of) { return has(of, stage); });
        for (const auto& row : results.of<rows::Stage>())
            if (ways == 1 && row.part_of == stage && row.group.empty())
                parts.push_back({row.stage, row.distribution->sum()});
        add_pieces(pieces, stage, sum_ns, std::move(parts));
    }
    return pieces;
}

double sum_of(const Pieces& pieces) {
    double sum = 0;
    for (const auto& piece : pieces)
        sum += piece.ns;
    return sum;
}

double mean_of(const rows::Way& way) {
    double sum = 0;
    for (const auto& stage : way.stages)
        sum += stage.sum_ns;
    return way.n > 0 ? sum / static_cast<double>(way.n) : 0;
}

/// The time of day it ended; without an epoch, times are those of the series: since its first block.
std::string ended(const rows::Results& results, const SlowRecord& record) {
    return record.time_ns && has_epoch(results) ? local_time_of_day(*record.time_ns) : "-";
}

Pieces pieces_of(const SlowRecord& record) {
    Pieces pieces;
    for (const auto& step : record.steps) {
        Pieces parts;
        for (const auto& [cause, ns] : step.parts)
            parts.push_back({fmt::format("{}.{}", step.stage, cause), static_cast<double>(ns)});
        add_pieces(pieces, step.stage, static_cast<double>(step.ns), std::move(parts));
    }
    return pieces;
}

/// "tcp-app.run-queue 12.9 ms": what takes most of it, and what else takes a quarter.
std::string largest_of(Pieces pieces, double total) {
    constexpr double large = 0.25;
    std::string text;
    std::ranges::stable_sort(pieces, std::greater{}, &Piece::ns);
    for (const auto& piece : pieces) {
        if (!text.empty() && piece.ns < large * total) break;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", piece.text(), duration_text(piece.ns));
    }
    return text;
}

void add_timelines(Section& to, const rows::Results& results, const std::string& way, const Records& records,
                   double longest) {
    auto& rows = to.timelines.front().rows;
    const auto coloured = coloured_stages(results);
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& record = records[i];
        const auto pieces = pieces_of(record);
        auto& row = rows.emplace_back();
        row.label = fmt::format("#{} {}", i + 1, duration_text(record.total_ns));
        const auto name = record_name(way, record.of);
        row.text = fmt::format("{}{}{}; {}", ended(results, record), name.empty() ? "" : ", ", name,
                               largest_of(pieces, static_cast<double>(record.total_ns)));
        for (const auto& piece : pieces) {
            const auto colour = colour_of_stage(coloured, piece.name);
            row.segments.push_back({fmt::format("{} {}", piece.text(), duration_text(piece.ns)), piece.ns / longest,
                                    colour, piece.label()});
            if (std::ranges::find(to.legend, piece.name, &Segment::name) == to.legend.end())
                to.legend.push_back({piece.name, 0, colour});
        }
        const auto rest = static_cast<double>(record.length_ns) - sum_of(pieces);
        if (rest >= 1)
            row.segments.push_back({fmt::format("in no stage {}", duration_text(rest)), rest / longest, std::nullopt});
    }
}

/// A column for each stage that one of the records has.
Table slowest_table(const rows::Results& results, const rows::Tail& tail, const Records& records) {
    Table table{fmt::format("The slowest {}{}, in microseconds", records.size(), of_direction(tail.way)),
                {{"#"}, {"ENDED", Kind::text}, {"TOTAL"}}};
    table.folded = true;
    const auto step_of = [](const SlowRecord& record, const std::string& stage) {
        const auto step = std::ranges::find(record.steps, stage, &SlowRecord::Step::stage);
        return step == record.steps.end() ? std::nullopt : std::optional(step->ns);
    };
    std::vector<std::string> stages;
    const auto way = std::ranges::find(results.of<rows::Way>(), tail.number, &rows::Way::number);
    for (const auto& of_way : way->stages) {
        const auto& stage = of_way.stage;
        const auto has_it = [&](const SlowRecord& record) { return step_of(record, stage).has_value(); };
        if (std::ranges::none_of(records, has_it)) continue;
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

const table::Histogram* stage_of(const rows::Results& results, std::string_view name) {
    for (const auto& stage : results.of<rows::Stage>()) {
        if (stage.group.empty() && stage.stage == name) return &*stage.distribution;
    }
    return nullptr;
}

std::string first_stage_of(const rows::Results& results) {
    std::string first;
    double most = -1;
    const auto whole = undivided_stages(results);
    for (const auto& stage : whole.rows) {
        if (stage.name == "total" && stage.stats->n() > 0) return stage.name;
        if (stage.stats->sum() <= most) continue;
        most = stage.stats->sum();
        first = stage.name;
    }
    return first;
}

std::vector<std::string> tail_sentences(const rows::Results& results) {
    std::vector<std::string> sentences;
    for (const auto& tail : results.of<rows::Tail>())
        sentences.push_back((tail.way.empty() ? "" : tail.way + ": ") + tail.sentence);
    return sentences;
}

std::vector<Segment> both_legend() {
    return {{"before", 0, 0}, {"after", 0, 4}};
}

void show_first(std::vector<Plot>& plots, const std::string& name) {
    std::ranges::stable_partition(plots, [&](const Plot& plot) { return plot.name == name; });
    for (std::size_t i = 1; i < plots.size(); ++i)
        plots[i].folded = true;
}

double max_mean_of(const rows::Results& results) {
    double longest = 0;
    for (const auto& way : results.of<rows::Way>())
        longest = std::max(longest, mean_of(way));
    return longest;
}

std::vector<Stack> stacks_of(const rows::Results& results, const table::Texts& coloured, std::optional<double> max_ns) {
    std::vector<Stack> stacks;
    for (const auto& way : results.of<rows::Way>()) {
        const auto mean = mean_of(way);
        if (mean <= 0) continue;
        Stack stack{way.way, fmt::format("{} on average", duration_text(mean))};
        for (const auto& piece : pieces_of(results, way)) {
            const auto each = piece.ns / static_cast<double>(way.n);
            const Segment named{fmt::format("{} {}", piece.text(), percent(each / mean)), each / max_ns.value_or(mean),
                                colour_of_stage(coloured, piece.name), piece.label()};
            stack.segments.push_back(named);
            stack.segments.back().name += fmt::format(", {}", duration_text(each));
            if (each / mean >= 0.0005) stack.legend.push_back(named);
        }
        stacks.push_back(std::move(stack));
    }
    return stacks;
}

void draw(Section& to, section::Stages /*section*/, const Report& of) {
    const auto& results = of.results;
    const auto coloured = coloured_stages(results);
    to.stacks = stacks_of(results, coloured);
    for (const auto& cause : results.of<rows::CauseOfWait>()) {
        to.answers.push_back({cause.part, cause.what, cause.remedy, colour_of_stage(coloured, cause.part).value_or(0),
                              kinds::latency::wait_of(cause.part) == nullptr ? "" : cause.part});
    }
    if (!results.sentences.reads.empty()) to.paragraphs = {results.sentences.reads};
    for (const bool are_times : {true, false}) {
        if (const auto rows = whole_rows(results, are_times); !rows.rows.empty())
            to.tables.push_back(measures_table(results, rows, style_of(rows), of.options.percentiles));
    }
}

void draw(Section& to, section::Causes /*section*/, const Report& of) {
    /// Of the time of a direction.
    constexpr double matters = 0.01;
    // An answer has its remedy.
    const auto add = [&](const std::string& name, bool is_answer) {
        const auto* wait = kinds::latency::wait_of(name);
        const bool is_there = std::ranges::find(to.explanations, name, &Explanation::name) != to.explanations.end();
        if (wait == nullptr || is_there) return;
        to.explanations.push_back(
            {name, std::string(wait->what), std::string(wait->known), is_answer ? "" : std::string(wait->remedy)});
    };
    for (const auto& cause : of.results.of<rows::CauseOfWait>())
        add(cause.part, true);
    for (const auto& way : of.results.of<rows::Way>()) {
        const auto pieces = pieces_of(of.results, way);
        for (const auto& piece : pieces)
            if (!piece.is_rest && piece.ns > matters * sum_of(pieces)) add(piece.name, false);
    }
}

void draw(Section& to, section::Tail /*section*/, const Report& of) {
    // Without an answer they stand in its place.
    if (!of.results.sentences.answer.empty()) to.paragraphs = tail_sentences(of.results);
    for (const auto& tail : of.results.of<rows::Tail>())
        if (tail.threshold_ns) to.tables.push_back(tail_table(of.results, tail));
}

void draw(Section& to, section::Slowest /*section*/, const Report& of) {
    double longest = 1;
    const auto& tails = of.results.of<rows::Tail>();
    for (const auto& tail : tails)
        for (const auto& record : slowest_of(of.results, tail.number))
            longest = std::max(longest, static_cast<double>(record.length_ns));
    to.timelines.push_back({{}, linear_ticks(static_cast<std::int64_t>(longest), true)});
    for (const auto& tail : tails) {
        const auto records = slowest_of(of.results, tail.number);
        if (records.empty()) continue;
        add_timelines(to, of.results, tail.way, records, longest);
        to.tables.push_back(slowest_table(of.results, tail, records));
    }
    if (to.tables.empty()) to.timelines.clear();
}

void draw(Section& to, section::Groups /*section*/, const Report& of) {
    for (const bool are_times : {true, false}) {
        if (auto table = groups_table(of.results, are_times, of.options); !table.rows.empty())
            to.tables.push_back(std::move(table));
    }
}

}  // namespace stapgen::show::html
