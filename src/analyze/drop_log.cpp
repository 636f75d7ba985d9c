#include "analyze/drop_log.h"

#include <utility>

#include "analyze/recent_place.h"
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
    Drop drop;
    if (places_.size() == most_kinds) {
        drop.symbol = "other places";
        if (!other_) other_ = kinds_.add(std::move(drop));
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
    return places_.emplace(key_, kinds_.add(std::move(drop))).first->second;
}

void DropLog::add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type,
                  std::int64_t count) {
    log_.add(kind_of(place, reason, reason_type), count);
}

std::vector<Drop> DropLog::open_rows() const {
    return kinds_.open_rows(key_of);
}

std::vector<Drop> DropLog::rows() const {
    return kinds_.rows(key_of);
}

}  // namespace stapgen::analyze
