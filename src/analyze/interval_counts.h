// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/groups.h"
#include "analyze/summary.h"
#include "analyze/text_map.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// Counts of things of several kinds by interval, in bounded memory: when there would be more than `max_rows` rows or
/// `max_intervals`, neighbouring intervals become one, and later ones are that long, too.
class IntervalLog {
  public:
    static constexpr std::size_t max_rows = 16384;
    static constexpr std::size_t max_intervals = 4096;

    struct Row {
        std::uint32_t interval = 0;  ///< counted from 0; that of the open one is intervals().size()
        std::uint32_t kind = 0;
        std::int64_t count = 0;
    };

    IntervalLog() = default;
    IntervalLog(const IntervalLog&) = delete;
    IntervalLog& operator=(const IntervalLog&) = delete;

    /// The number of a new kind: 0, 1, ...
    std::size_t add_kind();

    /// Into the open interval. Stops at the largest number.
    void add(std::size_t kind, std::int64_t count);

    /// Ends the open interval and opens the next.
    void close(const Interval& interval);

    /// Of the open interval, in no order.
    [[nodiscard]] std::vector<Row> open_rows() const;
    /// Of the intervals that were closed, in no order within one.
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

  private:
    struct Kind {
        std::int64_t open = 0;  ///< its count in the open interval
        bool is_open = false;
        std::size_t row = 0;  ///< in rows_, if that is one of the last interval
    };

    void put_rows();
    void join_neighbours();

    std::vector<Kind> kinds_;
    std::vector<std::size_t> open_;  ///< kinds of the open interval
    std::vector<Row> rows_;
    std::vector<Interval> intervals_;
    std::size_t closed_ = 0;         ///< how often close() was called
    std::size_t joined_ = 1;         ///< how many of them make one of intervals_
    std::size_t last_interval_ = 0;  ///< where its rows begin
};

/// What some kinds of an IntervalLog are: of each an Item, which has `interval`, `end_epoch_ns` and `count` to be
/// filled in. Several of these may share a log, each with kinds of its own. Bounded: where there would be more than
/// max_items, further ones are `other`.
template <class Item, std::size_t max_kept = 16384>
class IntervalItems {
  public:
    static constexpr std::size_t max_items = max_kept;

    IntervalItems(IntervalLog& log, Item other) : log_(log), other_(std::move(other)) {}
    IntervalItems(const IntervalItems&) = delete;
    IntervalItems& operator=(const IntervalItems&) = delete;

    /// Of the open interval, the largest count first; `interval` counts on from those that were closed. What has the
    /// same count stands in the order of key_of(), else in that in which it came up.
    [[nodiscard]] std::vector<Item> open_rows() const { return filled(log_.open_rows()); }
    /// Of the intervals that were closed, in their order, of each likewise.
    [[nodiscard]] std::vector<Item> rows() const { return filled(log_.rows()); }

  protected:
    /// Of the item of that key; the first time of the one that `make` returns, or of `other`.
    std::size_t kind_of(std::string_view key, const auto& make) {
        if (const auto found = kinds_.find(key); found != kinds_.end()) return found->second;
        if (kinds_.size() < max_items) return kinds_.emplace(std::string(key), add_kind(make())).first->second;
        if (!other_kind_) other_kind_ = add_kind(other_);
        return *other_kind_;
    }
    [[nodiscard]] bool is_other(std::size_t kind) const { return kind == other_kind_; }
    void add(std::size_t kind, std::int64_t count) { log_.add(kind, count); }

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

/// Counts by interval and group, in bounded memory; further groups are "other". The numbers are in an IntervalLog.
class CountLog : public IntervalItems<Tally> {
  public:
    explicit CountLog(IntervalLog& log);

    /// Into the open interval.
    void add(const decode::Record& record, const std::vector<GroupKey>& keys, std::int64_t count);

  private:
    std::string key_;  ///< kept for its memory
};

/// Drops by interval, reason and call path, in bounded memory; further paths have no frames. The counts are in an
/// IntervalLog.
class StackLog : public IntervalItems<Stack, 4096> {
  public:
    explicit StackLog(IntervalLog& log);

    /// Into the open interval. `reason` may be null.
    void add(std::string_view frames, const decode::Value* reason, std::int64_t count);

  private:
    std::string key_;  ///< kept for its memory
};

/// What a record is grouped by.
struct RecordKeys {
    const decode::Record* record = nullptr;
    std::span<const GroupKey> keys{};
};

/// Drops by interval, place, reason and group, in bounded memory; further ones are of "other places". The
/// counts are in an IntervalLog.
class DropLog : public IntervalItems<Drop> {
  public:
    explicit DropLog(IntervalLog& log);

    /// Into the open interval. `reason` may be null.
    void add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type, std::int64_t count,
             const RecordKeys& by = {});

    /// What a reader must know of the places.
    [[nodiscard]] std::vector<Note> notes() const;

  private:
    static constexpr std::size_t max_texts = 4 * max_items;

    std::size_t kind_of(std::string_view place, const decode::Value* reason, decode::FieldType reason_type,
                        const RecordKeys& by);

    /// Kinds by the text of a place, that of the reason and those of groups, with tabs between; max_texts of them.
    TextMap<std::size_t> texts_;
    std::map<std::size_t, std::string> refused_;  ///< places whose name no code has, by their kind
    std::set<std::size_t> hashed_;                ///< kinds whose address the kernel has hashed
    std::string key_;                             ///< kept for its memory
    struct Recent {
        std::string_view key;  ///< of texts_
        std::size_t kind = 0;
    };
    std::array<Recent, 256> recent_{};  ///< those that came up lately, by their places
};

}  // namespace stapgen::analyze
