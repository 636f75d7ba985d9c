// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "store/rows.h"
#include "store/tables.h"

namespace stapgen::store {

using decode::FieldType;

namespace {

/// Its name and type.
std::string column_of(const decode::Field& field) {
    switch (field.type) {
        case FieldType::time:
            return sql_name(field.name) + " TIMESTAMPTZ";
        case FieldType::stage:
            return sql_name(field.name + "_ns") + " BIGINT";
        case FieldType::address:
            return sql_name(field.name) + " UBIGINT";
        case FieldType::integer:
        case FieldType::value:
        case FieldType::count:
        case FieldType::reason:
            return sql_name(field.name) + " BIGINT";
        case FieldType::text:
        case FieldType::endpoint:
        case FieldType::ip:
        case FieldType::stack:
        case FieldType::place:
        case FieldType::reason_name:
            break;
    }
    return sql_name(field.name) + " VARCHAR";
}

}  // namespace

class EventRows final : public show::EventWriter {
  public:
    explicit EventRows(Events& events) : EventWriter(std::cout), events_(events) {}

  private:
    void write(const decode::Record& record) override {
        auto* const kind = events_.kind_of(*record.schema);
        if (kind == nullptr) return;
        auto& rows = kind->rows;
        rows.put(events_.run_);
        rows.put(record.schema->tag);
        for (std::size_t i = 0; i < record.values.size(); ++i)
            put(rows, record.schema->fields[i].type, record.values[i]);
        rows.end_row();
    }

    void put(Database::Appender& rows, FieldType type, const decode::Value& value) const {
        if (!value.seen || (type == FieldType::reason && value.number < 0)) return rows.put(std::nullopt);
        switch (type) {
            case FieldType::time: {
                const auto epoch_ns = epoch_of(value);
                return rows.put(epoch_ns ? std::optional(Moment{*epoch_ns}) : std::nullopt);
            }
            case FieldType::address:
                return rows.put(value.address());
            case FieldType::text:
                return rows.put(decode::unescape(value.raw));
            case FieldType::endpoint:
            case FieldType::ip:
                return rows.put(decode::endpoint_text(value.raw));
            case FieldType::stack:
            case FieldType::place:
            case FieldType::reason_name:
                return rows.put(value.raw);
            case FieldType::integer:
            case FieldType::stage:
            case FieldType::value:
            case FieldType::count:
            case FieldType::reason:
                break;
        }
        rows.put(value.number);
    }

    Events& events_;
};

std::unique_ptr<show::RecordWriter> Events::writer() {
    return std::make_unique<EventRows>(*this);
}

/// Null after an error.
Events::Kind* Events::kind_of(const decode::Schema& schema) {
    if (error_) return nullptr;
    const auto known = std::ranges::find(kinds_, &schema, &Kind::schema);
    if (known != kinds_.end()) return &*known;
    const auto table = fmt::format("{}_{}", events_table.name, kinds_.size() + 1);
    std::string columns(events_table.columns);
    for (const auto& field : schema.fields)
        columns += ", " + column_of(field);
    if (auto made = database_.run(fmt::format("CREATE OR REPLACE TABLE {} ({})", table, columns)); !made) {
        error_ = made.error();
        return nullptr;
    }
    return &kinds_.emplace_back(Kind{&schema, table, Database::Appender(database_, table)});
}

base::Result<std::vector<Filled>> Events::close() {
    std::vector<Filled> filled;
    for (auto& kind : kinds_) {
        if (auto closed = kind.rows.close(); !closed && !error_) error_ = closed.error();
        filled.push_back({kind.table, std::string(events_table.name), fmt::format(".{}", filled.size() + 1)});
    }
    if (error_) return tl::make_unexpected(*error_);
    return filled;
}

}  // namespace stapgen::store
