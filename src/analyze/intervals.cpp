#include "analyze/intervals.h"

#include <algorithm>
#include <utility>

#include "analyze/saturate.h"
#include "decode/place.h"

namespace stapgen::analyze {

std::uint32_t Intervals::kind_of(std::string_view place, std::int64_t reason, std::string_view reason_name) {
    key_.assign(place);
    key_ += '\t';
    key_ += reason_name;
    if (reason >= 0) key_ += std::to_string(reason);
    const auto found = kinds_.find(std::string_view(key_));
    if (found != kinds_.end()) return found->second;
    const bool is_full = kinds_.size() >= most_kinds;
    if (is_full && kind_drops_.size() > most_kinds) return most_kinds;
    Drop drop;
    if (is_full) {
        drop.symbol = "other places";
    } else {
        const auto known = decode::parse_place(place);
        drop.address = known.address;
        drop.symbol = known.symbol;
        drop.offset = known.offset;
        drop.module = known.module;
        drop.reason = reason;
        if (!reason_name.empty()) drop.reason_name = reason_name;
        kinds_.emplace(key_, static_cast<std::uint32_t>(kind_drops_.size()));
    }
    kind_drops_.push_back(std::move(drop));
    counts_.push_back(0);
    return static_cast<std::uint32_t>(kind_drops_.size() - 1);
}

void Intervals::count(std::uint32_t kind, std::int64_t count) {
    if (counts_[kind] == 0) counted_.push_back(kind);
    counts_[kind] = saturating_add(counts_[kind], count);
}

void Intervals::add(std::string_view place, std::int64_t reason, std::string_view reason_name, std::int64_t count_of) {
    if (count_of > 0) count(kind_of(place, reason, reason_name), count_of);
}

std::vector<Intervals::Row> Intervals::take_counted(std::size_t interval) {
    std::vector<Row> rows;
    for (const auto kind : std::exchange(counted_, {}))
        rows.push_back({interval, kind, std::exchange(counts_[kind], 0)});
    sort(rows);
    return rows;
}

void Intervals::sort(std::vector<Row>& rows) const {
    std::ranges::sort(rows, [this](const Row& a, const Row& b) {
        if (a.count != b.count) return a.count > b.count;
        return key_of(kind_drops_[a.kind]) < key_of(kind_drops_[b.kind]);
    });
}

Drop Intervals::drop_of(const Row& row) const {
    Drop drop = kind_drops_[row.kind];
    drop.interval = static_cast<std::int64_t>(row.interval);
    if (row.interval < intervals_.size()) drop.end_epoch_ns = intervals_[row.interval].end_epoch_ns;
    drop.count = row.count;
    return drop;
}

std::vector<Drop> Intervals::close(const Interval& interval) {
    const auto rows = take_counted(intervals_.size());
    intervals_.push_back(interval);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    std::vector<Drop> drops;
    for (const auto& row : rows) {
        drops.push_back(drop_of(row));
        drops.back().interval = 0;
    }
    while (intervals_.size() > 1 && (intervals_.size() > most_intervals || rows_.size() > most_rows))
        join_neighbours();
    return drops;
}

void Intervals::join_neighbours() {
    std::vector<Interval> joined;
    for (std::size_t i = 0; i < intervals_.size(); i += 2) {
        joined.push_back(intervals_[i]);
        if (i + 1 < intervals_.size()) joined.back().end_epoch_ns = intervals_[i + 1].end_epoch_ns;
    }
    intervals_ = std::move(joined);
    const auto rows = std::exchange(rows_, {});
    for (auto row = rows.begin(); row != rows.end();) {
        const auto interval = row->interval / 2;
        for (; row != rows.end() && row->interval / 2 == interval; ++row)
            count(row->kind, row->count);
        const auto both = take_counted(interval);
        rows_.insert(rows_.end(), both.begin(), both.end());
    }
}

std::vector<Drop> Intervals::rows() const {
    std::vector<Drop> drops;
    for (const auto& row : rows_)
        drops.push_back(drop_of(row));
    return drops;
}

std::vector<Drop> Intervals::open_rows() const {
    std::vector<Row> rows;
    for (const auto kind : counted_)
        rows.push_back({intervals_.size(), kind, counts_[kind]});
    sort(rows);
    std::vector<Drop> drops;
    for (const auto& row : rows)
        drops.push_back(drop_of(row));
    return drops;
}

}  // namespace stapgen::analyze
