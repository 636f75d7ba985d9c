// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/group_names.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturate.h"

namespace stapgen::analyze {

namespace {

/// Whether any was named.
bool name(Group& group, const NameOf& name_of) {
    bool any = false;
    for (auto& field : group) {
        if (auto called = name_of(field)) {
            field.value = *std::move(called);
            any = true;
        }
    }
    return any;
}

/// The whole stays first, and groups have the largest before others, "other" as the last one.
void name_measures(std::vector<Measure>& measures, const NameOf& name_of) {
    bool any = false;
    for (auto& measure : measures)
        any |= name(measure.group, name_of);
    if (!any) return;
    struct Part {
        std::vector<Measure> measures;
        std::int64_t n = 0;
    };
    std::map<Group, Part> parts;
    for (auto& measure : measures) {
        auto& part = parts[measure.group];
        const auto known = std::ranges::find(part.measures, measure.name, &Measure::name);
        if (known == part.measures.end()) {
            part.measures.push_back(std::move(measure));
        } else {
            known->stats += measure.stats;
        }
    }
    std::vector<std::tuple<int, std::int64_t, const Group*, Part*>> order;
    for (auto& [group, part] : parts) {
        for (const auto& measure : part.measures)
            part.n = std::max(part.n, measure.stats.n());
        const bool is_other = !group.empty() && std::holds_alternative<bool>(group.front().value);
        order.emplace_back(group.empty() ? 0 : is_other ? 2 : 1, -part.n, &group, &part);
    }
    std::ranges::sort(order, [](const auto& a, const auto& b) {
        return std::tie(std::get<0>(a), std::get<1>(a), *std::get<2>(a)) <
               std::tie(std::get<0>(b), std::get<1>(b), *std::get<2>(b));
    });
    measures.clear();
    for (const auto& [kind, size, group, part] : order)
        std::ranges::move(part->measures, std::back_inserter(measures));
}

/// Of drops and tallies, which stand by interval, then by count.
template <class Row>
void name_rows(std::vector<Row>& rows, const NameOf& name_of) {
    bool any = false;
    for (auto& row : rows)
        any |= name(row.group, name_of);
    if (!any) return;
    const auto key = [](const Row& row) { return std::tuple_cat(std::tie(row.interval), key_of(row)); };
    std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) { return key(a) < key(b); });
    std::vector<Row> joined;
    for (auto& row : rows) {
        if (joined.empty() || key(joined.back()) != key(row)) {
            joined.push_back(std::move(row));
        } else {
            base::add_saturating(joined.back().count, row.count);
        }
    }
    std::ranges::stable_sort(joined, {}, [](const Row& row) { return std::pair(row.interval, -row.count); });
    rows = std::move(joined);
}

}  // namespace

void name_groups(Summary& summary, const NameOf& name_of) {
    name_measures(summary.stages, name_of);
    name_measures(summary.values, name_of);
    name_rows(summary.drops, name_of);
    name_rows(summary.tallies, name_of);
    for (auto& breakdown : summary.breakdowns)
        breakdown.name([&](Group& group) { name(group, name_of); });
}

}  // namespace stapgen::analyze
