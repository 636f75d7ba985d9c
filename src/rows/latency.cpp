// SPDX-License-Identifier: GPL-2.0-or-later
#include "rows/latency.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "schema/schema.h"

namespace stapgen::rows {

void sort_groups(std::vector<Stage>& stages, std::vector<Value>& values) {
    std::map<table::Group, std::int64_t> sizes;
    const auto for_both = [&](const auto& call) {
        call(stages);
        call(values);
    };
    for_both([&](const auto& rows) {
        for (const auto& row : rows) {
            auto& size = sizes[row.group];
            size = std::max(size, row.distribution->n());
        }
    });
    const auto key = [&](const auto& row) {
        const int rank = row.group.empty() ? 0 : table::is_other(row.group) ? 2 : 1;
        return std::tuple<int, std::int64_t, const table::Group&>(rank, -sizes.at(row.group), row.group);
    };
    for_both([&](auto& rows) {
        std::ranges::stable_sort(rows, [&](const auto& a, const auto& b) { return key(a) < key(b); });
    });
}

namespace {

/// A set of directions, a bit for each.
using Ways = std::uint64_t;

}  // namespace

void put_shares(std::vector<Stage>& stages, const std::vector<Way>& ways) {
    std::map<std::string_view, Ways> known_ways;  // those that have spent time in a stage
    for (const auto& way : ways) {
        for (const auto& [stage, sum_ns] : way.stages)
            if (sum_ns > 0) known_ways[stage] |= Ways{1} << (way.number % 64);
    }
    const auto ways_of = [&](const Stage& row) {
        const auto found = known_ways.find(schema::is_part(row.stage) ? schema::divided_stage(row.stage) : row.stage);
        return found == known_ways.end() ? ~Ways{0} : found->second;
    };
    std::map<table::Group, std::map<Ways, double>> times;  // of each group, by its stages' directions
    for (const auto& row : stages) {
        if (row.stage != "total" && !schema::is_part(row.stage))
            times[row.group][ways_of(row)] += row.distribution->sum();
    }
    for (auto& row : stages) {
        double all = 0;
        for (const auto& [of, ns] : times[row.group])
            all += (of & ways_of(row)) != 0 ? ns : 0;
        row.share = all > 0 ? std::optional(row.distribution->sum() / all) : std::nullopt;
    }
}

}  // namespace stapgen::rows
