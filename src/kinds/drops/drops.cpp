// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/drops/drops.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/limits.h"
#include "base/same_text.h"
#include "base/text.h"
#include "decode/place.h"

namespace stapgen::kinds::drops {

namespace {

using decode::FieldType;
using DropOfInterval = rows::OfInterval<rows::Drop>;
using StackOfInterval = rows::OfInterval<rows::Stack>;

/// Call paths, and bytes of them: 35 calls each.
constexpr std::size_t max_paths = 4096, max_bytes = 2 * base::limits::row_key_bytes;

/// The key of places that are the same, however they are written.
std::string written_alike(const table::Place& place, const table::Reason& reason, std::string_view groups) {
    return fmt::format("{:x} {}+{:x} {} {} {}{}", place.address.value_or(0), place.symbol.value_or(""),
                       place.offset.value_or(0), place.module.value_or(""), reason.number, reason.name.value_or(""),
                       groups);
}

table::Reason reason_of(const decode::Record& record, std::size_t field) {
    table::Reason reason;
    const auto& value = record.values[field];
    const auto type = record.schema->fields[field].type;
    if (type == FieldType::reason) reason.number = value.number;
    if (type == FieldType::text) reason.name = decode::unescape(value.raw);
    if (type != FieldType::reason_name || !value.seen) return reason;
    const auto number = base::to_unsigned(value.raw);
    if (number && *number <= std::numeric_limits<std::uint32_t>::max()) {
        reason.number = static_cast<std::int64_t>(*number);
    } else {
        reason.name = value.raw;
    }
    return reason;
}

/// Drops by interval, reason and call path, in bounded memory; further paths have no frames.
class StackLog {
  public:
    explicit StackLog(IntervalLog& log) : rows_(log, rows::Stack(), max_paths, max_bytes) {}

    void add(const decode::Record& record, const Fields& fields) {
        const auto* reason = fields.reason ? &record.values[*fields.reason] : nullptr;
        const auto frames = record.values[*fields.stack].raw;
        key_.assign(reason != nullptr ? reason->raw : std::string_view());
        key_ += '\t';
        key_ += frames;
        const auto make = [&] {
            table::Path path;
            for (const auto address : decode::stack_addresses(frames))
                path.push_back({.address = address});
            rows::Stack row;
            if (fields.reason) row.reason = reason_of(record, *fields.reason);
            row.frames = std::move(path);
            return row;
        };
        const auto frame_count = static_cast<std::size_t>(std::ranges::count(frames, ',')) + 1;
        const auto thing = rows_.thing_of(key_, make, frame_count * sizeof(table::Place));
        rows_.add(thing, record.values[*fields.count].number);
    }
    [[nodiscard]] const CountedRows<rows::Stack>& rows() const { return rows_; }

  private:
    CountedRows<rows::Stack> rows_;
    std::string key_;  ///< kept for its memory
};

class Drops final : public Kind {
  public:
    Drops(const Settings& settings, IntervalLog& log) : group_by_(settings.group_by), drops_(log), stacks_(log) {}

    bool takes(const decode::Schema& schema) override {
        fields_.resize(schema.index + 1);
        auto& fields = fields_[schema.index];
        for (std::size_t i = 0; i < schema.fields.size(); ++i) {
            const auto type = schema.fields[i].type;
            const auto set = [i](std::optional<std::size_t>& field) {
                if (!field) field = i;
            };
            if (type == FieldType::address || type == FieldType::place) set(fields.place);
            if (type == FieldType::reason || type == FieldType::reason_name) set(fields.reason);
            // The paths of something else.
            if (type == FieldType::text && schema.fields[i].name == "reason") set(fields.reason);
            if (type == FieldType::stack) set(fields.stack);
            if (type == FieldType::count) set(fields.count);
        }
        fields.keys = decode::group_keys(schema, group_by_);
        // Whatever else drops are grouped by: what was asked for with them, and what a ledger needs of them.
        for (const auto* name : {"netfilter", "step"}) {
            const auto key = decode::group_key(schema, name);
            if (key && std::ranges::find(fields.keys, key->field, &decode::GroupKey::field) == fields.keys.end())
                fields.keys.push_back(*key);
        }
        if (!fields.count || (!fields.place && !fields.stack) || tells_waits(schema)) return false;
        (fields.stack ? has_stacks_ : has_drops_) = true;
        return true;
    }
    void add(const decode::Record& record) override {
        const auto& fields = fields_[record.schema->index];
        if (fields.stack) {
            stacks_.add(record, fields);
        } else {
            drops_.add(record, fields);
        }
    }
    void put_into(Measured& measured, const Clocks& /*clocks*/, bool is_open) const override {
        if (has_drops_) measured.of<DropOfInterval>() = drops_.rows().rows(is_open);
        if (has_stacks_) measured.of<StackOfInterval>() = stacks_.rows().rows(is_open);
        std::ranges::move(drops_.notes(), std::back_inserter(measured.notes));
    }
    void put_interval(Measured& measured, std::optional<std::int64_t> end_epoch_ns) const override {
        if (has_drops_) measured.of<DropOfInterval>() = drops_.rows().open_rows(end_epoch_ns);
        if (has_stacks_) measured.of<StackOfInterval>() = stacks_.rows().open_rows(end_epoch_ns);
    }

  private:
    std::vector<std::string> group_by_;
    std::vector<Fields> fields_;  ///< by schema
    bool has_drops_ = false, has_stacks_ = false;
    DropLog drops_;
    StackLog stacks_;
};

}  // namespace

DropLog::DropLog(IntervalLog& log) : rows_(log, {.place = {.symbol = "other places"}}) {}

std::size_t DropLog::thing_of(const decode::Record& record, const Fields& fields) {
    const auto place = record.values[*fields.place].raw;
    const auto reason = fields.reason ? record.values[*fields.reason].raw : std::string_view();
    auto& recent = recent_[recent_place(place)];
    if (fields.keys.empty() && recent.key.size() == place.size() + 1 + reason.size() &&
        recent.key[place.size()] == '\t' && base::are_same(recent.key.substr(0, place.size()), place) &&
        base::are_same(recent.key.substr(place.size() + 1), reason)) {
        return recent.thing;
    }
    key_.assign(place);
    key_ += '\t';
    key_ += reason;
    const auto groups_begin = key_.size();
    for (const auto& key : fields.keys) {
        key_ += '\t';
        key_ += decode::key_text(record, key);
    }
    const auto found = texts_.find(std::string_view(key_));
    if (found != texts_.end()) {
        recent = {found->first, found->second};
        return found->second;
    }
    const auto parsed = decode::parse_place(place);
    const auto why = fields.reason ? reason_of(record, *fields.reason) : table::Reason();
    const auto key = written_alike(parsed, why, std::string_view(key_).substr(groups_begin));
    bool is_new = false;
    const auto thing = rows_.thing_of(key, [&] {
        is_new = true;
        return rows::Drop{.place = parsed, .reason = why, .group = decode::group_of(record, fields.keys)};
    });
    if (is_new && parsed.refused) refused_.emplace(thing, place);
    if (is_new && parsed.hashed) hashed_.insert(thing);
    // Texts of "other places" would fill the memory.
    if (!rows_.is_other(thing) && texts_.size() < max_texts &&
        key_.size() <= base::limits::row_key_bytes - texts_size_) {
        texts_size_ += key_.size();
        texts_.emplace(key_, thing);
    }
    return thing;
}

void DropLog::add(const decode::Record& record, const Fields& fields) {
    rows_.add(thing_of(record, fields), record.values[*fields.count].number);
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

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log) {
    return std::make_unique<Drops>(settings, log);
}

}  // namespace stapgen::kinds::drops
