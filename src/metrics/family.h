// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "table/histogram.h"

namespace stapgen::metrics {

using table::Histogram;

/// Name and value of each, in the order in which they are written. A value may be any text.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// What OpenMetrics calls them. Samples of an info are 1; those of a stateset are 1 or 0, and have a label of the
/// family's name.
enum class Type { counter, gauge, info, stateset, histogram, summary };

/// The number of values, and their sum.
struct Sum {
    std::int64_t n = 0;
    double sum = 0;
};

/// A histogram's values are ns, and are written as seconds.
using Value = std::variant<std::int64_t, double, Sum, Histogram>;

/// A family of metrics: its samples by their labels.
struct Family {
    std::string name;  ///< without the "_total" or "_info" of its samples; ends with its unit
    Type type = Type::counter;
    std::string unit, help;  ///< plain text without quotes
    std::map<Labels, Value> samples{};

    /// Equal labels add up. Whole numbers stop at the largest one, and below zero they count as 0.
    void add(const Labels& labels, const Value& more);
};
using Families = std::vector<Family>;

/// A text as a label's name: what can be in none becomes _.
std::string label_name(std::string_view text);

/// The name of its samples where a format has no types but counter, gauge, summary and histogram.
std::string sample_name(const Family& family);

}  // namespace stapgen::metrics
