// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/interval_counts.h"

#include <fmt/format.h>

#include <limits>
#include <tuple>

#include "base/same_text.h"
#include "base/saturate.h"
#include "base/text.h"
#include "decode/place.h"

namespace stapgen::analyze {

namespace {

/// What places that are the same, however they are written, have in common.
std::string written_alike(const Drop& drop, std::string_view groups) {
    return fmt::format("{:x} {}+{:x} {} {} {}{}", drop.place.address.value_or(0), drop.place.symbol.value_or(""),
                       drop.place.offset.value_or(0), drop.place.module.value_or(""), drop.reason.number,
                       drop.reason.name.value_or(""), groups);
}

/// A function, since GCC 12 takes the members of a temporary for uninitialized.
Stack further_paths() {
    Stack stack;
    return stack;
}

}  // namespace

std::size_t IntervalLog::add_kind() {
    kinds_.emplace_back();
    return kinds_.size() - 1;
}

void IntervalLog::add(std::size_t kind, std::int64_t count) {
    auto& of = kinds_[kind];
    if (!std::exchange(of.is_open, true)) open_.push_back(kind);
    base::add_saturating(of.open, count);
}

void IntervalLog::close(const Interval& interval) {
    const auto place = closed_ / joined_;
    if (place == intervals_.size()) {
        intervals_.push_back(interval);
        last_interval_ = rows_.size();
    } else {
        intervals_[place].end_epoch_ns = interval.end_epoch_ns;
    }
    put_rows();
    ++closed_;
    const bool is_whole = closed_ % joined_ == 0 && intervals_.size() % 2 == 0;
    if (is_whole && (rows_.size() > max_rows || intervals_.size() > max_intervals)) join_neighbours();
}

/// Of the open interval, into the last one.
void IntervalLog::put_rows() {
    const auto place = static_cast<std::uint32_t>(intervals_.size() - 1);
    for (const auto index : open_) {
        auto& kind = kinds_[index];
        if (kind.row < last_interval_ || kind.row >= rows_.size() || rows_[kind.row].kind != index) {
            kind.row = rows_.size();
            rows_.push_back({place, static_cast<std::uint32_t>(index), 0});
        }
        base::add_saturating(rows_[kind.row].count, std::exchange(kind.open, 0));
        kind.is_open = false;
    }
    open_.clear();
}

void IntervalLog::join_neighbours() {
    joined_ *= 2;
    for (auto& row : rows_)
        row.interval /= 2;
    std::ranges::sort(rows_, {}, [](const Row& row) { return std::tie(row.interval, row.kind); });
    auto end = rows_.begin();
    for (const auto& row : rows_) {
        if (end != rows_.begin() && end[-1].interval == row.interval && end[-1].kind == row.kind) {
            base::add_saturating(end[-1].count, row.count);
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
        rows.push_back(
            {static_cast<std::uint32_t>(intervals_.size()), static_cast<std::uint32_t>(kind), kinds_[kind].open});
    return rows;
}

CountLog::CountLog(IntervalLog& log) : IntervalItems(log, Tally{.group = {{"other", true}}}) {}

void CountLog::add(const decode::Record& record, const std::vector<GroupKey>& keys, std::int64_t count) {
    key_.clear();
    for (const auto& key : keys) {
        key_ += key_text(record, key);
        key_ += '\t';
    }
    const auto make = [&] { return Tally{.group = group_of(record, keys)}; };
    IntervalItems::add(kind_of(key_, make), count);
}

StackLog::StackLog(IntervalLog& log) : IntervalItems(log, further_paths()) {}

void StackLog::add(std::string_view frames, const decode::Value* reason, std::int64_t count) {
    key_.assign(reason != nullptr ? reason->raw : std::string_view());
    key_ += '\t';
    key_ += frames;
    const auto make = [&] {
        Stack stack;
        if (reason != nullptr) stack.reason.number = reason->number;
        table::Path path;
        for (const auto address : decode::stack_addresses(frames))
            path.push_back({.address = address});
        stack.frames = std::move(path);
        return stack;
    };
    IntervalItems::add(kind_of(key_, make), count);
}

DropLog::DropLog(IntervalLog& log) : IntervalItems(log, Drop{.place = {.symbol = "other places"}}) {}

std::size_t DropLog::kind_of(std::string_view place, const decode::Value* reason, decode::FieldType reason_type,
                             const RecordKeys& by) {
    const auto reason_text = reason != nullptr ? reason->raw : std::string_view();
    auto& recent = recent_[recent_place(place)];
    if (by.keys.empty() && recent.key.size() == place.size() + 1 + reason_text.size() &&
        recent.key[place.size()] == '\t' && base::are_same(recent.key.substr(0, place.size()), place) &&
        base::are_same(recent.key.substr(place.size() + 1), reason_text)) {
        return recent.kind;
    }
    key_.assign(place);
    key_ += '\t';
    key_ += reason_text;
    const auto groups_begin = key_.size();
    for (const auto& key : by.keys) {
        key_ += '\t';
        key_ += key_text(*by.record, key);
    }
    const auto found = texts_.find(std::string_view(key_));
    if (found != texts_.end()) {
        recent = {found->first, found->second};
        return found->second;
    }
    Drop drop;
    auto parsed = decode::parse_place(place);
    drop.place = parsed;
    if (reason != nullptr && reason_type == decode::FieldType::reason) drop.reason.number = reason->number;
    if (reason != nullptr && reason_type == decode::FieldType::reason_name && reason->seen) {
        const auto number = base::to_unsigned(reason->raw);
        if (number && *number <= std::numeric_limits<std::uint32_t>::max()) {
            drop.reason.number = static_cast<std::int64_t>(*number);
        } else {
            drop.reason.name = reason->raw;
        }
    }
    for (const auto& key : by.keys)
        drop.group.push_back(group_field(*by.record, key));
    const auto key = written_alike(drop, std::string_view(key_).substr(groups_begin));
    bool is_new = false;
    const auto kind = IntervalItems::kind_of(key, [&] {
        is_new = true;
        return std::move(drop);
    });
    if (is_new && parsed.refused) refused_.emplace(kind, place);
    if (is_new && parsed.hashed) hashed_.insert(kind);
    // Texts of "other places" would fill the memory.
    if (!is_other(kind) && texts_.size() < max_texts) texts_.emplace(key_, kind);
    return kind;
}

void DropLog::add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type,
                  std::int64_t count, const RecordKeys& by) {
    IntervalItems::add(kind_of(place, reason, reason_type, by), count);
}

std::vector<Note> DropLog::notes() const {
    const auto places = [](std::size_t count, std::string_view one, std::string_view several) {
        return count == 1 ? fmt::format("1 place {}", one) : fmt::format("{} places {}", count, several);
    };
    std::vector<Note> notes;
    if (!refused_.empty()) {
        notes.emplace_back(
            fmt::format(
                "{} (the first: {})",
                places(refused_.size(), "had a name that is not in the kernel's code, and is shown as an address",
                       "had names that are not in the kernel's code, and are shown as addresses"),
                base::printable(refused_.begin()->second)),
            NoteKind::count);
    }
    if (!hashed_.empty()) {
        notes.emplace_back(places(hashed_.size(), "is a pointer hashed by the kernel (%p), and has no name",
                                  "are pointers hashed by the kernel (%p), and have no names") +
                               "; perf script and stapgen dropwatch show the addresses; ftrace needs the boot argument "
                               "no_hash_pointers",
                           NoteKind::count);
    }
    return notes;
}

}  // namespace stapgen::analyze
