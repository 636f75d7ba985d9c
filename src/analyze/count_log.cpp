#include "analyze/count_log.h"

#include <utility>

namespace stapgen::analyze {

Tally CountLog::tally_of(Group group) {
    Tally tally;
    tally.group = std::move(group);
    return tally;
}

void CountLog::add(const decode::Record& record, const std::vector<GroupKey>& keys, std::int64_t count) {
    key_.clear();
    for (const auto& key : keys) {
        key_ += key_text(record, key);
        key_ += '\t';
    }
    auto kind = items_.find(key_);
    if (!kind && items_.is_full()) kind = items_.add(key_, {});
    if (!kind) {
        Group group;
        for (const auto& key : keys)
            group.push_back(group_field(record, key));
        kind = items_.add(key_, tally_of(std::move(group)));
    }
    log_.add(*kind, count);
}

}  // namespace stapgen::analyze
