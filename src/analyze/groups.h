#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/summary.h"
#include "analyze/text_map.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// A field of a record by which it is grouped, or the port of an endpoint.
struct GroupKey {
    std::size_t field = 0;
    bool port_only = false;
};

/// The key of that name: a field, or "port" for the port of the endpoint `local`. Nothing if there is none.
std::optional<GroupKey> group_key(const decode::Schema& schema, std::string_view name);

/// The key's text as it stands in the input.
std::string_view key_text(const decode::Record& record, const GroupKey& key);

/// A field of a record as part of a group's name.
GroupField group_field(const decode::Record& record, const GroupKey& key);

/// The histograms of the whole and of each group, for as many measures as the plan of a recipe has.
/// Invariant: at most `max_groups` groups besides the whole and "other".
class Groups {
  public:
    /// One group (or the whole): a histogram per measure, in the order of the measures.
    struct Part {
        Group group;
        std::vector<Histogram> measures;

        void add(std::size_t measure, std::int64_t value);
        void add(std::size_t measure, const Histogram& values);
    };

    explicit Groups(std::size_t max_groups) : max_groups_(max_groups) {}
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;

    /// The part of a record, made when it is the first of its group. Without keys that is the whole.
    Part& part_of(const decode::Record& record, const std::vector<GroupKey>& keys);

    /// The part of what belongs to the whole and to no group.
    Part& ungrouped() { return ungrouped_; }

    /// As if all that went into `other` had gone in here.
    Groups& operator+=(const Groups& other);

    [[nodiscard]] Part whole() const;
    /// The groups, the largest first, then "other" if there is one.
    [[nodiscard]] std::vector<const Part*> in_order() const;

  private:
    /// A group that came up lately, by its key in parts_.
    struct Recent {
        std::string_view key;
        Part* part = nullptr;
    };

    Part& other();
    Part& part_with(std::string_view key, const Group& group);
    /// The fields' text with tabs between them. Where they stand like that in the input, it is a part of that.
    std::string_view joined(const decode::Record& record, const std::vector<GroupKey>& keys);

    std::size_t max_groups_;
    Part ungrouped_;
    TextMap<Part> parts_;
    std::optional<Part> other_;
    std::string key_;                   ///< kept for its memory
    std::array<Recent, 256> recent_{};  ///< by recent_place() of the key
};

}  // namespace stapgen::analyze
