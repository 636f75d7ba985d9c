#include "analyze/count_log.h"

#include <utility>

namespace stapgen::analyze {

namespace {

Tally tally_of(Group group) {
    Tally tally;
    tally.group = std::move(group);
    return tally;
}

/// Groups of the same count stand as they came up.
int no_key(const Tally&) {
    return 0;
}

}  // namespace

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
    if (texts_.size() == max_groups) {
        if (!other_) other_ = kinds_.add(tally_of({{"other", true}}));
        log_.add(*other_, count);
        return;
    }
    Group group;
    for (const auto& key : keys)
        group.push_back(group_field(record, key));
    log_.add(texts_.emplace(key_, kinds_.add(tally_of(std::move(group)))).first->second, count);
}

std::vector<Tally> CountLog::open_rows() const {
    return kinds_.open_rows(no_key);
}

std::vector<Tally> CountLog::rows() const {
    return kinds_.rows(no_key);
}

}  // namespace stapgen::analyze
