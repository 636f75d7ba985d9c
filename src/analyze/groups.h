// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyze/text_map.h"
#include "base/result.h"
#include "decode/record.h"
#include "table/histogram.h"
#include "table/value.h"

namespace stapgen::analyze {

using table::Group, table::GroupField;

/// A field of a record by which it is grouped, or the port of an endpoint.
struct GroupKey {
    std::size_t field = 0;
    bool port_only = false;
};

/// The key of that name: a field, or "port" for the port of the endpoint `local`. Nothing if there is none.
std::optional<GroupKey> group_key(const decode::Schema& schema, std::string_view name);

/// Error (bad_input): the header's own records have no such key.
base::Result<void> check_group_keys(const decode::Header& header, const std::vector<std::string>& group_by);

/// The key's text as it stands in the input.
[[gnu::always_inline]] inline std::string_view key_text(const decode::Record& record, const GroupKey& key) {
    const auto raw = record.values[key.field].raw;
    return key.port_only ? raw.substr(raw.rfind(':') + 1) : raw;
}

/// A field of a record as part of a group's name.
GroupField group_field(const decode::Record& record, const GroupKey& key);
Group group_of(const decode::Record& record, const std::vector<GroupKey>& keys);

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

}  // namespace stapgen::analyze
