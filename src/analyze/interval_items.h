#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/interval_log.h"

namespace stapgen::analyze {

/// What some kinds of an IntervalLog are: of each an Item, which has `interval`, `end_epoch_ns` and `count` to be
/// filled in. Several of these may share a log, each with kinds of its own.
template <class Item>
class IntervalItems {
  public:
    explicit IntervalItems(IntervalLog& log) : log_(log) {}

    /// The number of its kind.
    std::size_t add(Item item) {
        const auto kind = log_.add_kind();
        items_.emplace(kind, std::move(item));
        return kind;
    }

    /// Of the open interval, the largest count first; `interval` counts on from those that were closed. What has the
    /// same count stands in the order of `key_of` an Item, else in that in which it came up.
    template <class KeyOf>
    [[nodiscard]] std::vector<Item> open_rows(KeyOf key_of) const {
        return filled(log_.open_rows(), key_of);
    }
    /// Of the intervals that were closed, in their order, of each likewise.
    template <class KeyOf>
    [[nodiscard]] std::vector<Item> rows(KeyOf key_of) const {
        return filled(log_.rows(), key_of);
    }

  private:
    using Row = IntervalLog::Row;

    template <class KeyOf>
    std::vector<Item> filled(std::vector<Row> rows, KeyOf key_of) const {
        std::erase_if(rows, [this](const Row& row) { return !items_.contains(row.kind); });
        std::ranges::sort(rows, [&](const Row& a, const Row& b) {
            if (a.interval != b.interval) return a.interval < b.interval;
            if (a.count != b.count) return a.count > b.count;
            if (a.kind == b.kind) return false;
            const auto first = key_of(items_.at(a.kind)), second = key_of(items_.at(b.kind));
            return first != second ? first < second : a.kind < b.kind;
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
    std::unordered_map<std::size_t, Item> items_;  ///< by kind
};

}  // namespace stapgen::analyze
