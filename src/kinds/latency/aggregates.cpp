// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/latency/aggregates.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/saturate.h"

namespace stapgen::kinds {

AggregateCollector::Values& AggregateCollector::values(const decode::Schema& schema, std::size_t field) {
    auto& found = values_[{schema.index, field}];
    found.schema = &schema;
    found.field = field;
    return found;
}

void AggregateCollector::add(const decode::BinsLine& line) {
    auto& histogram = values(*line.schema, line.field).histogram;
    for (const auto& [index, count] : line.bins)
        histogram.add(schema::bins::middle(index), count);
}

void AggregateCollector::add(const decode::SumLine& line) {
    values(*line.schema, line.field).totals = table::Histogram::Totals{line.n, line.sum, line.min, line.max};
}

void AggregateCollector::add(const decode::SplitLine& line) {
    auto& split = splits_[{line.schema->index, std::string(line.direction), line.index}];
    split.schema = line.schema;
    split.direction = line.direction;
    split.index = line.index;
    base::add_saturating(split.n, line.n);
    split.sums_ns.resize(line.sums.size());
    for (std::size_t i = 0; i < line.sums.size(); ++i)
        base::add_saturating(split.sums_ns[i], line.sums[i]);
}

AggregateCollector::Interval AggregateCollector::take() {
    Interval interval;
    for (auto& [place, values] : std::exchange(values_, {})) {
        const auto& totals = values.totals;
        const auto missing = totals ? totals->n - values.histogram.n() : 0;
        const bool reaches_outside = totals && (totals->max > schema::bins::largest || totals->min < 0);
        if (totals && (missing == 0 || (missing > 0 && reaches_outside))) {
            values.histogram.set_totals(*totals);
        } else {
            interval.partial = std::max(interval.partial, missing);
        }
        interval.values.push_back(std::move(values));
    }
    for (auto& [place, split] : std::exchange(splits_, {}))
        interval.splits.push_back(std::move(split));
    return interval;
}

}  // namespace stapgen::kinds
