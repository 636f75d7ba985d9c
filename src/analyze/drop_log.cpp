#include "analyze/drop_log.h"

#include <algorithm>
#include <utility>

#include "analyze/recent_place.h"
#include "decode/place.h"

namespace stapgen::analyze {

std::size_t DropLog::add_kind(Drop drop) {
    const auto kind = log_.add_kind();
    kinds_.emplace(kind, std::move(drop));
    return kind;
}

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
    Drop drop;
    if (places_.size() == most_kinds) {
        drop.symbol = "other places";
        if (!other_) other_ = add_kind(std::move(drop));
        return *other_;
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
    return places_.emplace(key_, add_kind(std::move(drop))).first->second;
}

void DropLog::add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type,
                  std::int64_t count) {
    log_.add(kind_of(place, reason, reason_type), count);
}

std::vector<Drop> DropLog::drops_of(std::vector<IntervalLog::Row> rows) const {
    using Row = IntervalLog::Row;
    std::erase_if(rows, [this](const Row& row) { return !kinds_.contains(row.kind); });
    std::ranges::sort(rows, [this](const Row& a, const Row& b) {
        if (a.interval != b.interval) return a.interval < b.interval;
        if (a.count != b.count) return a.count > b.count;
        if (a.kind == b.kind) return false;
        const auto first = key_of(kinds_.at(a.kind)), second = key_of(kinds_.at(b.kind));
        return first != second ? first < second : a.kind < b.kind;
    });
    std::vector<Drop> drops;
    drops.reserve(rows.size());
    for (const auto& row : rows) {
        auto& drop = drops.emplace_back(kinds_.at(row.kind));
        drop.interval = static_cast<std::int64_t>(row.interval);
        drop.count = row.count;
        if (row.interval < log_.intervals().size()) drop.end_epoch_ns = log_.intervals()[row.interval].end_epoch_ns;
    }
    return drops;
}

std::vector<Drop> DropLog::open_rows() const {
    return drops_of(log_.open_rows());
}

std::vector<Drop> DropLog::rows() const {
    return drops_of(log_.rows());
}

}  // namespace stapgen::analyze
