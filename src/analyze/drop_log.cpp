#include "analyze/drop_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyze/saturate.h"
#include "decode/place.h"

namespace stapgen::analyze {

void DropLog::add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type,
                  std::int64_t count) {
    key_.assign(place);
    key_ += '\t';
    if (reason != nullptr) key_ += reason->raw;
    auto found = places_.find(std::string_view(key_));
    if (found == places_.end()) {
        Kind kind;
        const auto parsed = decode::parse_place(place);
        kind.drop.address = parsed.address;
        kind.drop.symbol = parsed.symbol;
        kind.drop.offset = parsed.offset;
        kind.drop.module = parsed.module;
        if (reason != nullptr && reason_type == decode::FieldType::reason) kind.drop.reason = reason->number;
        if (reason != nullptr && reason_type == decode::FieldType::reason_name && reason->seen) {
            kind.drop.reason_name = reason->raw;
        }
        found = places_.emplace(key_, kinds_.size()).first;
        kinds_.push_back(std::move(kind));
    }
    auto& kind = kinds_[found->second];
    if (!std::exchange(kind.is_open, true)) open_.push_back(found->second);
    kind.open = saturating_add(kind.open, count);
}

void DropLog::close(const Interval& interval) {
    const auto place = closed_ / joined_;
    if (place == intervals_.size()) {
        intervals_.push_back(interval);
        last_interval_ = rows_.size();
    } else {
        intervals_[place].end_epoch_ns = interval.end_epoch_ns;
    }
    for (const auto index : open_) {
        auto& kind = kinds_[index];
        rows_.push_back({place, index, std::exchange(kind.open, 0)});
        kind.is_open = false;
    }
    open_.clear();
    ++closed_;
    if (closed_ % joined_ != 0) return;
    tidy(rows_, last_interval_);
    if (intervals_.size() % 2 == 0 && (rows_.size() > most_rows || intervals_.size() > most_intervals)) {
        join_neighbours();
    }
}

void DropLog::join_neighbours() {
    joined_ *= 2;
    for (auto& row : rows_)
        row.interval /= 2;
    tidy(rows_, 0);
    last_interval_ = rows_.size();
    for (std::size_t i = 0; i < intervals_.size() / 2; ++i)
        intervals_[i] = {intervals_[2 * i].start_epoch_ns, intervals_[2 * i + 1].end_epoch_ns};
    intervals_.resize(intervals_.size() / 2);
}

void DropLog::tidy(std::vector<Row>& rows, std::size_t from) const {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(from);
    std::sort(begin, rows.end(),
              [](const Row& a, const Row& b) { return std::tie(a.interval, a.kind) < std::tie(b.interval, b.kind); });
    auto into = begin;
    for (auto row = begin; row != rows.end(); ++row) {
        if (into != begin && into[-1].interval == row->interval && into[-1].kind == row->kind) {
            into[-1].count = saturating_add(into[-1].count, row->count);
        } else {
            *into++ = *row;
        }
    }
    rows.erase(into, rows.end());
    sort(rows, from);
}

void DropLog::sort(std::vector<Row>& rows, std::size_t from) const {
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(from), rows.end(), [this](const Row& a, const Row& b) {
        if (a.interval != b.interval) return a.interval < b.interval;
        if (a.count != b.count) return a.count > b.count;
        if (a.kind == b.kind) return false;
        const auto first = key_of(kinds_[a.kind].drop), second = key_of(kinds_[b.kind].drop);
        return first != second ? first < second : a.kind < b.kind;
    });
}

Drop DropLog::drop_of(const Row& row) const {
    auto drop = kinds_[row.kind].drop;
    drop.interval = static_cast<std::int64_t>(row.interval);
    drop.count = row.count;
    if (row.interval < intervals_.size()) drop.end_epoch_ns = intervals_[row.interval].end_epoch_ns;
    return drop;
}

std::vector<Drop> DropLog::open_rows() const {
    std::vector<Row> rows;
    for (const auto index : open_)
        rows.push_back({intervals_.size(), index, kinds_[index].open});
    sort(rows, 0);
    std::vector<Drop> drops;
    for (const auto& row : rows)
        drops.push_back(drop_of(row));
    return drops;
}

std::vector<Drop> DropLog::rows() const {
    auto rows = rows_;
    tidy(rows, last_interval_);
    std::vector<Drop> drops;
    for (const auto& row : rows)
        drops.push_back(drop_of(row));
    return drops;
}

}  // namespace stapgen::analyze
