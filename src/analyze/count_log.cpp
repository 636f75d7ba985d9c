#include "analyze/count_log.h"

#include <algorithm>
#include <utility>

namespace stapgen::analyze {

std::size_t CountLog::add_kind(Group group) {
    const auto kind = log_.add_kind();
    kinds_.emplace(kind, std::move(group));
    return kind;
}

void CountLog::add(const decode::Record& record, const std::vector<GroupKey>& keys, std::int64_t count) {
    key_.clear();
    for (const auto& key : keys) {
        key_ += key_text(record, key);
        key_ += '\t';
    }
    const auto found = texts_.find(std::string_view(key_));
    if (found != texts_.end()) {
        log_.add(found->second, count);
        return;
    }
    if (texts_.size() == most_groups) {
        if (!other_) other_ = add_kind({{"other", true}});
        log_.add(*other_, count);
        return;
    }
    Group group;
    for (const auto& key : keys)
        group.push_back(group_field(record, key));
    log_.add(texts_.emplace(key_, add_kind(std::move(group))).first->second, count);
}

std::vector<Tally> CountLog::tallies_of(std::vector<IntervalLog::Row> rows) const {
    using Row = IntervalLog::Row;
    std::erase_if(rows, [this](const Row& row) { return !kinds_.contains(row.kind); });
    std::ranges::sort(rows, [](const Row& a, const Row& b) {
        if (a.interval != b.interval) return a.interval < b.interval;
        return a.count != b.count ? a.count > b.count : a.kind < b.kind;
    });
    std::vector<Tally> tallies;
    tallies.reserve(rows.size());
    for (const auto& row : rows) {
        auto& tally = tallies.emplace_back();
        tally.interval = static_cast<std::int64_t>(row.interval);
        if (row.interval < log_.intervals().size()) tally.end_epoch_ns = log_.intervals()[row.interval].end_epoch_ns;
        tally.group = kinds_.at(row.kind);
        tally.count = row.count;
    }
    return tallies;
}

std::vector<Tally> CountLog::open_rows() const {
    return tallies_of(log_.open_rows());
}

std::vector<Tally> CountLog::rows() const {
    return tallies_of(log_.rows());
}

}  // namespace stapgen::analyze
