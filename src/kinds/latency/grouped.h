// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/group_keys.h"
#include "kinds/text_map.h"
#include "table/histogram.h"
#include "table/keys.h"

namespace stapgen::kinds {

using decode::GroupKey, decode::key_text;
using table::Group, table::GroupField;

/// The histograms of the whole and of each group, for as many measures as the plan of a recipe has.
/// Invariant: at most `max_groups` groups besides the whole and "other".
class Groups {
  public:
    /// One group (or the whole): a histogram per measure, in the order of the measures.
    struct Part {
        Group group;
        std::vector<table::Histogram> measures;

        /// Reserves room for this many measures.
        void hold(std::size_t count) {
            if (count > measures.size()) measures.resize(count);
        }
    };

    explicit Groups(std::size_t max_groups) : max_groups_(max_groups) {}
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;
    Groups(Groups&&) = default;
    Groups& operator=(Groups&&) = default;

    /// The part of a record, made when it is the first of its group. Without keys that is the whole.
    Part& part_of(const decode::Record& record, const std::vector<GroupKey>& keys);

    /// The part of what belongs to the whole and to no group.
    Part& ungrouped() { return ungrouped_; }

    /// As if all that went into `other` had gone in here.
    Groups& operator+=(const Groups& other);

    [[nodiscard]] Part whole() const;
    /// The groups, the largest first, of one size by their keys, then "other" if there is one.
    [[nodiscard]] std::vector<const Part*> in_order() const;

  private:
    Part& other();
    Part& part_with(std::string_view key, const Group& group);

    std::size_t max_groups_;
    Part ungrouped_;
    TextMap<Part> parts_;
    std::optional<Part> other_;
    std::string key_;  ///< kept for its memory
    /// The parts of keys that came up lately, by how these stood in the input.
    struct Recent {
        std::string text;
        std::uint64_t places = 0;
        Part* part = nullptr;
    };
    std::array<Recent, 256> recent_{};
};

}  // namespace stapgen::kinds
