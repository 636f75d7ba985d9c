// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/counts/counts.h"

#include <utility>

#include "base/kernel.h"
#include "decode/group_keys.h"
#include "table/counter_tracks.h"

namespace stapgen::kinds::counts {

namespace {

using decode::FieldType;
using table::Meet, table::Type;

table::Row row_of(table::Group group) {
    return interval_row({{}, std::move(group), {}, {}, false, {}, {}});
}

/// Counts by interval and group, in bounded memory; further groups are "other".
class Counts final : public Kind {
  public:
    Counts(const Settings& settings, IntervalLog& log)
        : group_by_(settings.group_by), rows_(log, counts_table(), row_of({{"other", true}})) {}

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
        // What is counted beside the records has keys of its own.
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
        const auto make = [&] { return row_of(decode::group_of(record, fields.keys)); };
        rows_.add(rows_.thing_of(key_, make), record.values[*fields.count].number);
    }
    void add_line(const decode::Line& line) override {
        if (const auto* reading = std::get_if<decode::CounterReading>(&line)) readings_.add(*reading);
    }
    void put_into(Measured& measured, const Clocks& /*clocks*/, bool is_open) const override {
        put(measured, rows_.rows(is_open));
        if (readings_.empty()) return;
        measured.tables.push_back({.name = "readings",
                                   .columns = {{"readings", Type::tracks, Meet::add}},
                                   .rows = {{readings_}},
                                   .shape = table::Shape::none});
    }
    void put_interval(Measured& measured, std::optional<std::int64_t> end_epoch_ns) const override {
        put(measured, rows_.open_rows(end_epoch_ns));
    }

  private:
    struct Fields {
        std::optional<std::size_t> count;
        std::vector<decode::GroupKey> keys;
    };

    void put(Measured& measured, table::Table rows) const {
        if (counted_.empty()) return;
        measured.tables.push_back(std::move(rows));
        set_fact(measured, "counted", counted_);
    }

    std::vector<std::string> group_by_;
    std::vector<Fields> fields_;  ///< by schema
    std::string counted_;         ///< the field whose sums these are; empty: nothing is counted
    CountedRows rows_;
    table::CounterTracks readings_;
    std::string key_;  ///< kept for its memory
};

}  // namespace

table::Table counts_table() {
    using table::ForPeople;
    const ForPeople rate{.place = 3, .heading = "PER S", .if_any = true};
    const ForPeople lost{.place = 5, .heading = "LOSS", .if_true = "lost", .if_any = true, .is_alarm = true};
    const ForPeople by_name{.place = 5, .heading = "LOSS", .if_true = "by name", .if_any = true};
    return by_interval({.name = "counts",
                        .row_name = "count",
                        .columns = {{"counted", Type::text, Meet::key, false, table::In::rows},
                                    {"group", Type::group, Meet::key, false, table::In::all, {4}},
                                    {"count", Type::count, Meet::add, false, table::In::all, {2, "COUNT"}},
                                    {"meaning", Type::text, Meet::first, false, table::In::documents},
                                    {"loss", Type::flag, Meet::first, false, table::In::documents, lost},
                                    {"loss_by_name", Type::flag, Meet::first, true, table::In::documents, by_name},
                                    {"per_s", Type::number, Meet::same, true, table::In::documents, rate}}});
}

table::Table counting_table() {
    return {.name = "counting",
            .columns = {{"counted", Type::text, Meet::largest},
                        {"mixed_units", Type::flag, Meet::largest},
                        {"levels", Type::flag, Meet::largest},
                        {"counters_read", Type::count, Meet::largest}},
            .rows = {{{}, false, false, {}}},
            .shape = table::Shape::none};
}

void set_fact(Measured& measured, std::string_view column, table::Value value) {
    auto* table = table::find(measured.tables, "counting");
    if (table == nullptr) table = &measured.tables.emplace_back(counting_table());
    table->rows.front()[table->place_of(column)] = std::move(value);
}

const std::string* counter_of(const table::Table& counts, const table::Row& row) {
    const auto* group = table::held<table::Group>(counts.at(row, "group"));
    return group == nullptr || group->empty() ? nullptr : std::get_if<std::string>(&group->front().value);
}

int rank_of(const table::Table& counts, const table::Row& row, bool mixed_units) {
    const auto is_set = [&](std::string_view column) { return counts.at(row, column) == table::Value(true); };
    if (is_set("loss")) return 3;
    if (is_set("loss_by_name")) return 2;
    if (table::held<std::string>(counts.at(row, "meaning")) != nullptr) return 1;
    const auto* name = counter_of(counts, row);
    return mixed_units && name != nullptr && base::counts_bytes(*name) ? -1 : 0;
}

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log) {
    return std::make_unique<Counts>(settings, log);
}

}  // namespace stapgen::kinds::counts
