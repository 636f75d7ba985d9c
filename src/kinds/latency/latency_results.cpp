// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <map>
#include <utility>

#include "kinds/latency/latency.h"
#include "kinds/latency/owners.h"
#include "kinds/latency/tail.h"
#include "schema/schema.h"

namespace stapgen::kinds::latency {

namespace {

using schema::is_part;

table::Texts names_of(const Measures& whole) {
    table::Texts names;
    for (const auto& [name, stats] : whole)
        names.push_back(name);
    return names;
}

/// In each group the parts of a stage follow it, without those that no packet had.
std::vector<rows::Stage> with_parts_after_stages(const std::vector<rows::Stage>& stages) {
    std::map<std::pair<table::Group, std::string_view>, std::vector<const rows::Stage*>> parts;
    for (const auto& row : stages) {
        if (is_part(row.stage) && row.distribution->n() > 0)
            parts[{row.group, schema::divided_stage(row.stage)}].push_back(&row);
    }
    std::vector<rows::Stage> ordered;
    for (const auto& row : stages) {
        if (is_part(row.stage)) continue;
        ordered.push_back(row);
        for (const auto* part : parts[{row.group, row.stage}]) {
            auto& put = ordered.emplace_back(*part);
            put.part_of = schema::divided_stage(part->stage);
            put.cause = schema::cause_of(part->stage);
        }
    }
    return ordered;
}

rows::StageOfTail row_of(const table::Breakdown::Tail::Share& share) {
    return {share.stage, share.slow_mean_ns, share.rest_mean_ns, share.slow, share.rest, share.of_excess};
}

rows::Tail tail_of(const table::Breakdown& breakdown, const std::optional<table::Breakdown::Tail>& tail,
                   std::int64_t number) {
    rows::Tail row{number, breakdown.direction(), tail_percent, tail_sentence(breakdown, tail_percent)};
    if (!tail) return row;
    row.threshold_ns = tail->threshold_ns;
    row.n_slow = tail->n_slow;
    row.n_rest = tail->n_rest;
    row.slow_mean_ns = tail->slow_mean_ns;
    row.rest_mean_ns = tail->rest_mean_ns;
    for (const auto& share : tail->shares) {
        if (is_part(share.stage)) continue;
        row.stages.push_back(row_of(share));
        for (const auto& part : tail->shares) {
            if (schema::divided_stage(part.stage) == share.stage && part.slow_mean_ns + part.rest_mean_ns > 0)
                row.stages.push_back(row_of(part));
        }
    }
    return row;
}

void put_slowest(const table::Breakdown& breakdown, std::int64_t number, std::vector<rows::Slowest>& slowest) {
    for (const auto& record : breakdown.slowest()) {
        table::Durations durations;
        for (std::size_t i = 0; i < record.stages.size() && i < breakdown.stages().size(); ++i) {
            if (record.stages[i] || !is_part(breakdown.stages()[i]))
                durations.emplace_back(breakdown.stages()[i], record.stages[i]);
        }
        slowest.push_back({number, breakdown.direction(), record.total_ns, record.time_ns, durations, record.of});
    }
}

/// The directions, where the tail of each comes from, and its slowest records.
void put_ways(const Measured& measured, rows::Results& results) {
    auto& ways = results.of<rows::Way>();
    for (const auto& [direction, stages, breakdown] : measured.of<rows::Breakdown>()) {
        const auto number = std::ssize(ways);
        const auto tail = breakdown->tail(tail_percent);
        const auto stage = tail ? stage_of_tail(*tail) : "";
        auto& way = ways.emplace_back(rows::Way{number, direction, breakdown->total().n()});
        if (!stage.empty()) way.tail_stage = stage;
        for (std::size_t i = 0; i < stages.size(); ++i)
            if (!is_part(stages[i])) way.stages.push_back({stages[i], breakdown->sum_ns(i)});
        if (way.n > 0) results.of<rows::Tail>().push_back(tail_of(*breakdown, tail, number));
        if (way.n > 0) put_slowest(*breakdown, number, results.of<rows::Slowest>());
        auto& totals = results.of<rows::Total>();
        const auto name = total_name(*breakdown);
        if (stage_of(measured, name) == nullptr && std::ranges::find(totals, name, &rows::Total::stage) == totals.end())
            totals.push_back({name, breakdown->total()});
    }
}

/// Slow are those that are slow among all records of the direction.
void put_ways_of_groups(const Measured& measured, std::vector<rows::WayOfGroup>& ways) {
    struct Slow {
        std::optional<int> first;
        table::Breakdown::Halves all{};
    };
    std::map<const table::Breakdown*, Slow> slow_of;
    for (const auto& [direction, group, stages, of_group] : measured.of<rows::GroupBreakdown>()) {
        auto& way = ways.emplace_back(rows::WayOfGroup{group, direction, of_group->total().n()});
        for (std::size_t i = 0; i < stages.size(); ++i)
            way.stages.push_back({stages[i], of_group->sum_ns(i)});
        const auto whole = std::ranges::find_if(measured.of<rows::Breakdown>(), [&](const rows::Breakdown& of) {
            return of.breakdown->is_like(*of_group);
        });
        if (whole == measured.of<rows::Breakdown>().end()) continue;
        const auto [found, is_new] = slow_of.try_emplace(&*whole->breakdown);
        auto& [first_slow, all] = found->second;
        if (is_new) first_slow = whole->breakdown->first_slow(tail_percent);
        if (!first_slow) continue;
        if (is_new) all = whole->breakdown->divided_at(*first_slow);
        const auto own = of_group->divided_at(*first_slow);
        way.n_slow = own.n_slow;
        for (std::size_t i = 0; i < stages.size() && all.n_rest > 0; ++i) {
            const auto usual_ns = all.rest[i] / static_cast<double>(all.n_rest);
            way.stages[i].excess_ns = own.slow[i] - usual_ns * static_cast<double>(own.n_slow);
        }
    }
}

rows::Average row_of(const rows::AverageOf& of) {
    rows::Average row{of.name, of.average.n};
    (of.average.is_time ? row.mean_ns : row.mean) = of.average.mean;
    (of.average.is_time ? row.error_ns : row.error) = of.average.error;
    return row;
}

}  // namespace

void put_results(const Measured& measured, const Asked& /*asked*/, rows::Results& results) {
    put_ways(measured, results);
    put_ways_of_groups(measured, results.of<rows::WayOfGroup>());
    // Threads and addresses of several hosts may have the same names.
    const auto is_of_another = [&](const Origin& origin) { return origin.host != measured.origins.front().host; };
    if (std::ranges::none_of(measured.origins, is_of_another))
        results.put(stand_outs_of(measured.of<rows::OwnerTime>()));
    auto stages = with_parts_after_stages(measured.of<rows::Stage>());
    put_shares(stages, results.of<rows::Way>());
    results.of<rows::Value>() = measured.of<rows::Value>();
    results.one<rows::Precision>() = measured.one<rows::Precision>();
    results.one<rows::Series>() = {measured.one<rows::Series>().series, names_of(whole_of(stages)),
                                   names_of(whole_of(measured.of<rows::Value>()))};
    results.put(std::move(stages));
    for (const auto& average : measured.of<rows::AverageOf>())
        results.of<rows::Average>().push_back(row_of(average));
    for (const auto& [number, line, n, averages] : measured.of<rows::AveragesOfInterval>()) {
        auto& row = results.of<rows::AverageInterval>().emplace_back(rows::AverageInterval{number, line, n});
        for (const auto& average : averages)
            row.averages.push_back(row_of(average));
    }
}

}  // namespace stapgen::kinds::latency
