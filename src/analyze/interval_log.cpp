#include "analyze/interval_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/saturate.h"

namespace stapgen::analyze {

std::size_t IntervalLog::add_kind() {
    kinds_.emplace_back();
    return kinds_.size() - 1;
}

void IntervalLog::add(std::size_t kind, std::int64_t count) {
    auto& of = kinds_[kind];
    if (!std::exchange(of.is_open, true)) open_.push_back(kind);
    of.open = base::saturating_add(of.open, count);
}

void IntervalLog::close(const Interval& interval) {
    const auto place = closed_ / joined_;
    if (place == intervals_.size()) {
        intervals_.push_back(interval);
        last_interval_ = rows_.size();
    } else {
        intervals_[place].end_epoch_ns = interval.end_epoch_ns;
    }
    for (const auto index : open_) {
        auto& kind = kinds_[index];
        if (kind.row < last_interval_ || kind.row >= rows_.size() || rows_[kind.row].kind != index) {
            kind.row = rows_.size();
            rows_.push_back({place, index, 0});
        }
        auto& count = rows_[kind.row].count;
        count = base::saturating_add(count, std::exchange(kind.open, 0));
        kind.is_open = false;
    }
    open_.clear();
    ++closed_;
    const bool is_whole = closed_ % joined_ == 0 && intervals_.size() % 2 == 0;
    if (is_whole && (rows_.size() > max_rows || intervals_.size() > max_intervals)) join_neighbours();
}

void IntervalLog::join_neighbours() {
    joined_ *= 2;
    for (auto& row : rows_)
        row.interval /= 2;
    std::ranges::sort(
        rows_, [](const Row& a, const Row& b) { return std::tie(a.interval, a.kind) < std::tie(b.interval, b.kind); });
    auto end = rows_.begin();
    for (const auto& row : rows_) {
        if (end != rows_.begin() && end[-1].interval == row.interval && end[-1].kind == row.kind) {
            end[-1].count = base::saturating_add(end[-1].count, row.count);
        } else {
            *end++ = row;
        }
    }
    rows_.erase(end, rows_.end());
    last_interval_ = rows_.size();
    for (std::size_t i = 0; i < intervals_.size() / 2; ++i)
        intervals_[i] = {intervals_[2 * i].start_epoch_ns, intervals_[2 * i + 1].end_epoch_ns};
    intervals_.resize(intervals_.size() / 2);
}

std::vector<IntervalLog::Row> IntervalLog::open_rows() const {
    std::vector<Row> rows;
    for (const auto kind : open_)
        rows.push_back({intervals_.size(), kind, kinds_[kind].open});
    return rows;
}

}  // namespace stapgen::analyze
