#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/interval_log.h"
#include "analyze/text_map.h"

namespace stapgen::analyze {

/// What some kinds of an IntervalLog are: of each an Item, which has `interval`, `end_epoch_ns` and `count` to be
/// filled in. Several of these may share a log, each with kinds of its own. Bounded: where there would be more than
/// max_items, further ones are `other`.
template <class Item>
class IntervalItems {
  public:
    static constexpr std::size_t max_items = 16384;

    IntervalItems(IntervalLog& log, Item other) : log_(log), other_(std::move(other)) {}

    /// The kind of the item of that key; nothing if there is none.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view key) const {
        const auto found = kinds_.find(key);
        return found == kinds_.end() ? std::nullopt : std::optional(found->second);
    }

    [[nodiscard]] bool is_full() const { return kinds_.size() == max_items; }

    /// The kind of a new item, or of `other`.
    std::size_t add(std::string_view key, Item item) {
        if (!is_full()) return kinds_.emplace(std::string(key), add_kind(std::move(item))).first->second;
        if (!other_kind_) other_kind_ = add_kind(other_);
        return *other_kind_;
    }

    /// Of the open interval, the largest count first; `interval` counts on from those that were closed. What has the
    /// same count stands in the order of key_of(), else in that in which it came up.
    [[nodiscard]] std::vector<Item> open_rows() const { return filled(log_.open_rows()); }
    /// Of the intervals that were closed, in their order, of each likewise.
    [[nodiscard]] std::vector<Item> rows() const { return filled(log_.rows()); }

  private:
    using Row = IntervalLog::Row;

    std::size_t add_kind(Item item) {
        const auto kind = log_.add_kind();
        items_.emplace(kind, std::move(item));
        return kind;
    }

    std::vector<Item> filled(std::vector<Row> rows) const {
        std::erase_if(rows, [this](const Row& row) { return !items_.contains(row.kind); });
        std::ranges::sort(rows, [&](const Row& a, const Row& b) {
            if (a.interval != b.interval) return a.interval < b.interval;
            if (a.count != b.count) return a.count > b.count;
            if (a.kind == b.kind) return false;
            const auto key_a = key_of(items_.at(a.kind)), key_b = key_of(items_.at(b.kind));
            return key_a != key_b ? key_a < key_b : a.kind < b.kind;
        });
        const auto& intervals = log_.intervals();
        std::vector<Item> items;
        items.reserve(rows.size());
        for (const auto& row : rows) {
            auto& item = items.emplace_back(items_.at(row.kind));
            item.interval = static_cast<std::int64_t>(row.interval);
            item.count = row.count;
            if (row.interval < intervals.size()) item.end_epoch_ns = intervals[row.interval].end_epoch_ns;
        }
        return items;
    }

    IntervalLog& log_;
    Item other_;
    std::optional<std::size_t> other_kind_;
    std::unordered_map<std::size_t, Item> items_;  ///< by kind
    TextMap<std::size_t> kinds_;                   ///< by key
};

}  // namespace stapgen::analyze
