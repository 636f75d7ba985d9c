// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schema/schema.h"
#include "table/table.h"

namespace stapgen::table {

namespace {

/// A set of directions, a bit for each.
using Ways = std::uint64_t;

std::map<std::string, Ways> ways_of_stages(const Table& way_stages) {
    std::map<std::string, Ways> ways;
    for (const auto& row : way_stages.rows) {
        const auto number = count_of(way_stages.at(row, "number"));
        if (real_of(way_stages.at(row, "sum_ns")) > 0)
            ways[text_of(way_stages.at(row, "stage"))] |= Ways{1} << (number % 64);
    }
    return ways;
}

}  // namespace

void put_shares(Table& stages, const Table& way_stages) {
    const auto known_ways = ways_of_stages(way_stages);
    const auto stage = stages.place_of("stage"), group = stages.place_of("group"), share = stages.place_of("share"),
               distribution = stages.place_of("distribution");
    const auto is_part = [&](const Row& row) { return schema::is_part(*held<std::string>(row[stage])); };
    const auto ways_of = [&](const Row& row) {
        const auto& name = *held<std::string>(row[stage]);
        const auto found = known_ways.find(is_part(row) ? std::string(schema::divided_stage(name)) : name);
        return found == known_ways.end() ? ~Ways{0} : found->second;
    };
    std::map<Group, std::map<Ways, double>> times;  // of each group, by its stages' directions
    for (const auto& row : stages.rows) {
        if (*held<std::string>(row[stage]) != "total" && !is_part(row))
            times[*held<Group>(row[group])][ways_of(row)] += held<Histogram>(row[distribution])->sum();
    }
    for (auto& row : stages.rows) {
        double all = 0;
        for (const auto& [of, ns] : times[*held<Group>(row[group])])
            all += (of & ways_of(row)) != 0 ? ns : 0;
        row[share] = all > 0 ? Value(held<Histogram>(row[distribution])->sum() / all) : Value();
    }
}

}  // namespace stapgen::table
