// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/who/who.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "decode/group_keys.h"
#include "kinds/interval_rows.h"

namespace stapgen::kinds::who {

namespace {

using decode::FieldType;

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
        rows_.add(key_, std::move(row));
    }
    void close_interval() override { rows_.close_interval(); }
    void put_into(Measured& measured, const Clocks& /*clocks*/, bool is_open) const override {
        if (has_any_) rows_.put_into(measured, is_open);
    }
    void put_interval(Measured& measured, std::optional<std::int64_t> /*end_epoch_ns*/) const override {
        if (has_any_) rows_.put_interval(measured);
    }

  private:
    static std::int64_t* sum_of(rows::Who& row, std::string_view field) {
        if (field == "n") return &row.n;
        if (field == "ns") return &row.sum_ns;
        return field == "max" ? &row.max_ns : nullptr;
    }
    bool has_any_ = false;
    IntervalRows<rows::Who> rows_{[](rows::Who& row) {
        row.group = {{"other", true}};
        row.frames.reset();
    }};
    std::string key_;  ///< kept for its memory
};

}  // namespace

std::unique_ptr<Kind> make(const Settings& /*settings*/, IntervalLog& /*log*/) {
    return std::make_unique<Who>();
}

}  // namespace stapgen::kinds::who
