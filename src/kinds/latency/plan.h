// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/group_keys.h"
#include "decode/record.h"
#include "table/series.h"

namespace stapgen::kinds {

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
        std::size_t place = 0;  ///< among the stages without parts, or else among the values
        bool is_stage = true;
        bool divides_total = false;  ///< of the breakdown: no total, no value
        bool is_part = false;        ///< of a stage
        bool in_series = true;       ///< blocks of time have it: no part, and of the first kind of record
    };
    std::vector<Slot> slots;
    std::vector<decode::GroupKey> group_keys;
    std::optional<std::size_t> time, direction, total;
    std::vector<std::string> stages;      ///< that divide the total, and their parts
    std::vector<std::size_t> breakdowns;  ///< those of its directions so far
    bool is_call = false;

    /// As it stands in the input; empty where there is none.
    [[nodiscard]] std::string_view direction_in(const decode::Record& record) const {
        return direction ? record.values[*direction].raw : std::string_view();
    }
};

/// Appends those of `measures` that are new. Where a field of `group_by` is not there, nothing is grouped.
Plan plan_of(const decode::Schema& schema, const std::vector<std::string>& group_by,
             std::vector<MeasureName>& measures);

}  // namespace stapgen::kinds
