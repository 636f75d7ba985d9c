// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/who/who.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "decode/group_keys.h"
#include "table/merge.h"

namespace stapgen::kinds::who {

namespace {

using decode::FieldType;

/// Limit of rows, of the whole and of an interval; one row has the sum of the others.
constexpr auto max_rows = rows::Who::about.most;

/// By the texts of the record's fields but for its numbers.
using Rows = std::map<std::string, rows::Who, std::less<>>;

void add(Rows& rows, std::string_view key, rows::Who row) {
    const bool is_full = rows.size() >= max_rows && !rows.contains(key);
    auto [found, is_new] = rows.try_emplace(is_full ? std::string() : std::string(key), row);
    if (!is_new) return table::merge_row(found->second, row);
    if (is_full) {
        found->second.group = {{"other", true}};
        found->second.frames.reset();
    }
}

class Who final : public Kind {
  public:
    bool takes(const decode::Schema& schema) override {
        if (!tells_waits(schema)) return false;
        has_any_ = true;
        return true;
    }
    void add(const decode::Record& record) override {
        const auto& fields = record.schema->fields;
        rows::Who row;
        if (!tells_wakers(*record.schema)) row.with_packet_ns = 0;
        table::Path path;
        key_.clear();
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const auto& value = record.values[i];
            if (fields[i].name == "held") {
                if (row.with_packet_ns) row.with_packet_ns = std::max<std::int64_t>(value.number, 0);
                continue;
            }
            if (auto* sum = sum_of(row, fields[i].name)) {
                *sum = std::max<std::int64_t>(value.number, 0);
                continue;
            }
            key_.append(value.raw) += '\t';
            if (fields[i].type == FieldType::stack) {
                for (const auto address : decode::stack_addresses(value.raw))
                    path.push_back({.address = address});
            } else {
                row.group.push_back(decode::group_field(record, {.field = i}));
            }
        }
        if (!path.empty()) row.frames = std::move(path);
        who::add(open_, key_, std::move(row));
    }
    void close_interval() override {
        add_open(whole_);
        open_.clear();
    }
    void put_into(Measured& measured, const Clocks& /*clocks*/, bool is_open) const override {
        if (!is_open) return put(measured, whole_);
        auto rows = whole_;
        add_open(rows);
        put(measured, rows);
    }
    void put_interval(Measured& measured, std::optional<std::int64_t> /*end_epoch_ns*/) const override {
        put(measured, open_);
    }

  private:
    static std::int64_t* sum_of(rows::Who& row, std::string_view field) {
        if (field == "n") return &row.n;
        if (field == "ns") return &row.sum_ns;
        return field == "max" ? &row.max_ns : nullptr;
    }
    void add_open(Rows& rows) const {
        for (const auto& [key, row] : open_)
            who::add(rows, key, row);
    }
    void put(Measured& measured, const Rows& rows) const {
        if (!has_any_) return;
        auto& who = measured.of<rows::Who>();
        who.is_there = true;
        for (const auto& [key, row] : rows)
            who.push_back(row);
    }

    bool has_any_ = false;
    Rows whole_, open_;
    std::string key_;  ///< kept for its memory
};

}  // namespace

std::unique_ptr<Kind> make(const Settings& /*settings*/, IntervalLog& /*log*/) {
    return std::make_unique<Who>();
}

}  // namespace stapgen::kinds::who
