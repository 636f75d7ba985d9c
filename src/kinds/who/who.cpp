// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/who/who.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/saturate.h"
#include "decode/group_keys.h"

namespace stapgen::kinds::who {

namespace {

using decode::FieldType;
using table::Meet, table::Type;

/// Of the whole, and of an interval; what there is beyond is added up in one row.
constexpr std::size_t max_rows = 4096;

struct Sums {
    std::int64_t n = 0, ns = 0, held_ns = 0, max_ns = 0;

    Sums& operator+=(const Sums& other) {
        base::add_saturating(n, other.n);
        base::add_saturating(ns, other.ns);
        base::add_saturating(held_ns, other.held_ns);
        max_ns = std::max(max_ns, other.max_ns);
        return *this;
    }
};

/// By the texts of the record's fields but for its numbers.
using Rows = std::map<std::string, std::pair<table::Row, Sums>, std::less<>>;

void add(Rows& rows, std::string_view key, const Sums& sums, const auto& make) {
    auto found = rows.find(key);
    if (found == rows.end() && rows.size() < max_rows) {
        found = rows.emplace(key, std::pair(make(), Sums())).first;
    } else if (found == rows.end()) {
        const table::Row other{table::Group{{"other", true}}, {}};
        found = rows.emplace("", std::pair(other, Sums())).first;
    }
    found->second.second += sums;
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
        Sums sums;
        table::Group group;
        table::Path path;
        key_.clear();
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const auto& value = record.values[i];
            if (auto* sum = sum_of(sums, fields[i].name)) {
                *sum = std::max<std::int64_t>(value.number, 0);
                continue;
            }
            key_.append(value.raw) += '\t';
            if (fields[i].type == FieldType::stack) {
                for (const auto address : decode::stack_addresses(value.raw))
                    path.push_back({.address = address});
            } else {
                group.push_back(decode::group_field(record, {.field = i}));
            }
        }
        who::add(open_, key_, sums, [&] {
            return table::Row{std::move(group), path.empty() ? table::Value() : table::Value(std::move(path))};
        });
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
    static std::int64_t* sum_of(Sums& sums, std::string_view field) {
        if (field == "n") return &sums.n;
        if (field == "ns") return &sums.ns;
        if (field == "held") return &sums.held_ns;
        return field == "max" ? &sums.max_ns : nullptr;
    }
    void add_open(Rows& rows) const {
        for (const auto& [key, row] : open_)
            who::add(rows, key, row.second, [&row] { return row.first; });
    }
    void put(Measured& measured, const Rows& rows) const {
        if (!has_any_) return;
        auto table = who_table();
        for (const auto& [key, row] : rows) {
            auto cells = row.first;
            for (const auto number : {row.second.n, row.second.ns, row.second.held_ns, row.second.max_ns})
                cells.emplace_back(number);
            table.rows.push_back(std::move(cells));
        }
        measured.tables.push_back(std::move(table));
    }

    bool has_any_ = false;
    Rows whole_, open_;
    std::string key_;  ///< kept for its memory
};

}  // namespace

table::Table who_table() {
    using table::ForPeople;
    const ForPeople path{.place = 8, .heading = "PATH", .if_any = true, .on_page_only = true};
    return {.name = "who",
            .row_name = "who",
            .columns = {{"group", Type::group, Meet::key},
                        {"frames", Type::path, Meet::key, false, table::In::all, path},
                        {"n", Type::count, Meet::add, false, table::In::all, {4, "N"}},
                        {"sum_ns", Type::duration, Meet::add, false, table::In::all, {5, "TOTAL"}},
                        {"with_packet_ns", Type::duration, Meet::add, false, table::In::all, {6, "WITH PACKET"}},
                        {"max_ns", Type::duration, Meet::largest, false, table::In::all, {7, "MAX"}}},
            .is_rare = true,
            .most = max_rows};
}

std::unique_ptr<Kind> make(const Settings& /*settings*/, IntervalLog& /*log*/) {
    return std::make_unique<Who>();
}

}  // namespace stapgen::kinds::who
