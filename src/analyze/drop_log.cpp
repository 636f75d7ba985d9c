#include "analyze/drop_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyze/recent_place.h"
#include "analyze/saturate.h"
#include "decode/place.h"

namespace stapgen::analyze {

std::size_t DropLog::kind_of(std::string_view place, const decode::Value* reason, decode::FieldType reason_type) {
    const auto reason_text = reason != nullptr ? reason->raw : std::string_view();
    auto& recent = recent_[recent_place(place)];
    if (recent.key.size() == place.size() + 1 + reason_text.size() && recent.key[place.size()] == '\t' &&
        recent.key.starts_with(place) && recent.key.ends_with(reason_text)) {
        return recent.kind;
    }
    key_.assign(place);
    key_ += '\t';
    key_ += reason_text;
    const auto found = places_.find(std::string_view(key_));
    if (found != places_.end()) {
        recent = {found->first, found->second};
        return found->second;
    }
    if (kinds_.size() > most_kinds) return most_kinds;
    auto& drop = kinds_.emplace_back().drop;
    if (kinds_.size() > most_kinds) {
        drop.symbol = "other places";
        return most_kinds;
    }
    auto parsed = decode::parse_place(place);
    drop.address = parsed.address;
    drop.symbol = std::move(parsed.symbol);
    drop.offset = parsed.offset;
    drop.module = std::move(parsed.module);
    if (reason != nullptr && reason_type == decode::FieldType::reason) drop.reason = reason->number;
    if (reason != nullptr && reason_type == decode::FieldType::reason_name && reason->seen) {
        drop.reason_name = reason->raw;
    }
    return places_.emplace(key_, kinds_.size() - 1).first->second;
}

void DropLog::add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type,
                  std::int64_t count) {
    const auto index = kind_of(place, reason, reason_type);
    auto& kind = kinds_[index];
    if (!std::exchange(kind.is_open, true)) open_.push_back(index);
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
        if (kind.row < last_interval_ || kind.row >= rows_.size() || rows_[kind.row].kind != index) {
            kind.row = rows_.size();
            rows_.push_back({place, index, 0});
        }
        auto& count = rows_[kind.row].count;
        count = saturating_add(count, std::exchange(kind.open, 0));
        kind.is_open = false;
    }
    open_.clear();
    ++closed_;
    const bool is_whole = closed_ % joined_ == 0 && intervals_.size() % 2 == 0;
    if (is_whole && (rows_.size() > most_rows || intervals_.size() > most_intervals)) join_neighbours();
}

void DropLog::join_neighbours() {
    joined_ *= 2;
    for (auto& row : rows_)
        row.interval /= 2;
    std::ranges::sort(
        rows_, [](const Row& a, const Row& b) { return std::tie(a.interval, a.kind) < std::tie(b.interval, b.kind); });
    auto end = rows_.begin();
    for (const auto& row : rows_) {
        if (end != rows_.begin() && end[-1].interval == row.interval && end[-1].kind == row.kind) {
            end[-1].count = saturating_add(end[-1].count, row.count);
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

std::vector<Drop> DropLog::drops_of(std::vector<Row> rows) const {
    std::ranges::sort(rows, [this](const Row& a, const Row& b) {
        if (a.interval != b.interval) return a.interval < b.interval;
        if (a.count != b.count) return a.count > b.count;
        if (a.kind == b.kind) return false;
        const auto first = key_of(kinds_[a.kind].drop), second = key_of(kinds_[b.kind].drop);
        return first != second ? first < second : a.kind < b.kind;
    });
    std::vector<Drop> drops;
    drops.reserve(rows.size());
    for (const auto& row : rows) {
        auto& drop = drops.emplace_back(kinds_[row.kind].drop);
        drop.interval = static_cast<std::int64_t>(row.interval);
        drop.count = row.count;
        if (row.interval < intervals_.size()) drop.end_epoch_ns = intervals_[row.interval].end_epoch_ns;
    }
    return drops;
}

std::vector<Drop> DropLog::open_rows() const {
    std::vector<Row> rows;
    for (const auto index : open_)
        rows.push_back({intervals_.size(), index, kinds_[index].open});
    return drops_of(std::move(rows));
}

std::vector<Drop> DropLog::rows() const {
    return drops_of(rows_);
}

}  // namespace stapgen::analyze
