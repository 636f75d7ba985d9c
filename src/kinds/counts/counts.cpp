// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/counts/counts.h"

#include <utility>

#include "base/kernel.h"
#include "decode/group_keys.h"
#include "table/counter_tracks.h"

namespace stapgen::kinds::counts {

namespace {

using decode::FieldType;

/// Counts by interval and group, in bounded memory; further groups are "other".
class Counts final : public Kind {
  public:
    Counts(const Settings& settings, IntervalLog& log)
        : group_by_(settings.group_by), rows_(log, {.group = {{"other", true}}}) {}

    bool takes(const decode::Schema& schema) override {
        fields_.resize(schema.index + 1);
        auto& fields = fields_[schema.index];
        bool is_of_place = false;
        for (std::size_t i = 0; i < schema.fields.size(); ++i) {
            const auto type = schema.fields[i].type;
            is_of_place |= type == FieldType::address || type == FieldType::place || type == FieldType::stack;
            if (type == FieldType::count && !fields.count) fields.count = i;
        }
        if (!fields.count || is_of_place || tells_waits(schema) || is_ledger(schema)) return false;
        // Counts beside the records have keys of its own.
        fields.keys = decode::group_keys(schema, schema.index == 0 ? group_by_ : schema.keys());
        if (counted_.empty()) counted_ = schema.fields[*fields.count].name;
        return true;
    }
    void add(const decode::Record& record) override {
        const auto& fields = fields_[record.schema->index];
        key_.clear();
        for (const auto& key : fields.keys) {
            key_ += decode::key_text(record, key);
            key_ += '\t';
        }
        const auto make = [&] { return rows::Count{.group = decode::group_of(record, fields.keys)}; };
        rows_.add(rows_.thing_of(key_, make), record.values[*fields.count].number);
    }
    void add_line(const decode::Line& line) override {
        if (const auto* reading = std::get_if<decode::CounterReading>(&line)) readings_.add(*reading);
    }
    void put_into(Measured& measured, const Clocks& /*clocks*/, bool is_open) const override {
        put(measured, rows_.rows(is_open));
        if (!readings_.empty()) measured.one<rows::Readings>().tracks = readings_;
    }
    void put_interval(Measured& measured, std::optional<std::int64_t> end_epoch_ns) const override {
        put(measured, rows_.open_rows(end_epoch_ns));
    }

  private:
    struct Fields {
        std::optional<std::size_t> count;
        std::vector<decode::GroupKey> keys;
    };

    void put(Measured& measured, CountedRows<rows::Count>::Rows counts) const {
        if (counted_.empty()) return;
        measured.of<rows::OfInterval<rows::Count>>() = std::move(counts);
        measured.one<rows::Counting>().counted = counted_;
    }

    std::vector<std::string> group_by_;
    std::vector<Fields> fields_;  ///< by schema
    std::string counted_;         ///< the field whose sums these are; empty: nothing is counted
    CountedRows<rows::Count> rows_;
    table::CounterTracks readings_;
    std::string key_;  ///< kept for its memory
};

}  // namespace

const std::string* counter_of(const rows::Count& row) {
    return row.group.empty() ? nullptr : std::get_if<std::string>(&row.group.front().value);
}

int rank_of(const rows::Count& row, bool mixed_units) {
    if (row.loss) return 3;
    if (row.loss_by_name) return 2;
    if (row.meaning) return 1;
    const auto* name = counter_of(row);
    return mixed_units && name != nullptr && base::counts_bytes(*name) ? -1 : 0;
}

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log) {
    return std::make_unique<Counts>(settings, log);
}

}  // namespace stapgen::kinds::counts
