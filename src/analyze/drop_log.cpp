#include "analyze/drop_log.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "analyze/recent_place.h"
#include "base/text.h"
#include "decode/place.h"

namespace stapgen::analyze {

namespace {

/// What places that are the same, however they are written, have in common.
std::string written_alike(const Drop& drop) {
    return fmt::format("{:x} {}+{:x} {} {} {}", drop.address.value_or(0), drop.symbol.value_or(""),
                       drop.offset.value_or(0), drop.module.value_or(""), drop.reason, drop.reason_name.value_or(""));
}

}  // namespace

Drop DropLog::other_places() {
    Drop other;
    other.symbol = "other places";
    return other;
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
    const auto found = texts_.find(std::string_view(key_));
    if (found != texts_.end()) {
        recent = {found->first, found->second};
        return found->second;
    }
    Drop drop;
    auto parsed = decode::parse_place(place);
    drop.address = parsed.address;
    drop.symbol = std::move(parsed.symbol);
    drop.offset = parsed.offset;
    drop.module = std::move(parsed.module);
    if (reason != nullptr && reason_type == decode::FieldType::reason) drop.reason = reason->number;
    if (reason != nullptr && reason_type == decode::FieldType::reason_name && reason->seen) {
        const auto number = base::to_unsigned(reason->raw);
        if (number && *number <= std::numeric_limits<std::uint32_t>::max()) {
            drop.reason = static_cast<std::int64_t>(*number);
        } else {
            drop.reason_name = reason->raw;
        }
    }
    const auto key = written_alike(drop);
    auto kind = items_.find(key);
    if (!kind) {
        // Texts of "other places" would fill the memory.
        if (items_.is_full()) return items_.add(key, {});
        if (parsed.refused && ++refused_ == 1) first_refused_ = place;
        hashed_ += parsed.hashed ? 1 : 0;
        kind = items_.add(key, std::move(drop));
    }
    if (texts_.size() < max_texts) texts_.emplace(key_, *kind);
    return *kind;
}

void DropLog::add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type,
                  std::int64_t count) {
    log_.add(kind_of(place, reason, reason_type), count);
}

std::vector<Note> DropLog::notes() const {
    const auto places = [](std::size_t count, std::string_view one, std::string_view several) {
        return count == 1 ? fmt::format("1 place {}", one) : fmt::format("{} places {}", count, several);
    };
    std::vector<Note> notes;
    if (refused_ > 0) {
        notes.emplace_back(fmt::format("{} (the first: {})",
                                       places(refused_, "had a name that no code has, and is shown as an address",
                                              "had names that no code has, and are shown as addresses"),
                                       base::printable(first_refused_)),
                           NoteKind::count);
    }
    if (hashed_ > 0) {
        notes.emplace_back(
            places(hashed_, "is a pointer that the kernel has hashed (%p), and has no name",
                   "are pointers that the kernel has hashed (%p), and have no names") +
                "; perf script and stapgen dropwatch see the addresses, with the boot argument no_hash_pointers "
                "ftrace does",
            NoteKind::count);
    }
    return notes;
}

}  // namespace stapgen::analyze
