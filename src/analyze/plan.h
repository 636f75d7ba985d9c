// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/groups.h"
#include "decode/record.h"
#include "table/series.h"

namespace stapgen::analyze {

/// A row of the report.
struct MeasureName {
    std::string name;
    bool is_stage = true;
};

/// What to do with the fields of one kind of record.
struct Plan {
    struct Slot {
        std::size_t field = 0;
        std::size_t measure = 0;
        std::size_t place = 0;  ///< among the stages, or else among the values
        bool is_stage = true;
        bool is_part = false;   ///< of the breakdown: no total, no value
        bool in_series = true;  ///< blocks of time have it: those of the first kind of record
    };
    std::vector<Slot> slots;
    std::vector<GroupKey> group_keys;
    std::optional<std::size_t> time, place, reason, stack, count, direction, total;
    std::vector<std::string> parts;
    std::vector<std::size_t> breakdowns;  ///< those of its directions so far
    bool is_main = false;
    bool is_call = false;

    /// As it stands in the input; empty where there is none.
    [[nodiscard]] std::string_view direction_in(const decode::Record& record) const {
        return direction ? record.values[*direction].raw : std::string_view();
    }
    [[nodiscard]] bool is_drop() const { return place && count && !stack; }
    [[nodiscard]] bool is_count() const { return count && !place && !stack; }
    [[nodiscard]] bool is_stack() const { return stack && count; }
};

/// Appends those of `measures` that are new. Where a field of `group_by` is not there, nothing is grouped.
Plan plan_of(const decode::Schema& schema, const std::vector<std::string>& group_by,
             std::vector<MeasureName>& measures);

}  // namespace stapgen::analyze
