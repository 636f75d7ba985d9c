#include "report/event_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/saturate.h"
#include "base/text.h"
#include "report/json/json_text.h"
#include "report/model/wall_time.h"

namespace stapgen::report {

namespace {

using decode::FieldType;
using decode::Value;
using Json = nlohmann::ordered_json;

void write_line(std::ostream& out, std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    out << line;
}

/// The text of a table's cell, but for times.
std::string cell(FieldType type, const Value& value) {
    switch (type) {
        case FieldType::text:
            return base::printable(decode::unescape(value.raw));
        case FieldType::endpoint:
            return base::printable(decode::endpoint_text(value.raw));
        case FieldType::stage:
            return value.seen ? fmt::format("{}.{:03}", value.number / 1000, value.number % 1000) : "-";
        case FieldType::address:
            return fmt::format("0x{:x}", value.address());
        case FieldType::time:
        case FieldType::integer:
        case FieldType::value:
        case FieldType::reason:
        case FieldType::count:
        case FieldType::place:
        case FieldType::reason_name:
            break;
    }
    return base::printable(value.raw);
}

Json json_value(FieldType type, const Value& value) {
    if (!value.seen) return nullptr;
    switch (type) {
        case FieldType::text:
            return decode::unescape(value.raw);
        case FieldType::endpoint:
            return decode::endpoint_text(value.raw);
        case FieldType::address:
            return fmt::format("0x{:x}", value.address());
        case FieldType::reason:
            return value.number < 0 ? Json(nullptr) : Json(value.number);
        case FieldType::time:
        case FieldType::stage:
        case FieldType::integer:
        case FieldType::value:
        case FieldType::count:
        case FieldType::place:
        case FieldType::reason_name:
            break;
    }
    return value.number;
}

}  // namespace

/// Widths are fixed, because rows are written before the widest is known: 15 bytes are the longest name of a thread,
/// 21 the longest IPv4 endpoint, and a stage of ten digits is below a second.
EventWriter::Column EventWriter::column_of(const decode::Field& field) {
    Column column{base::upper(field.name), 0, false};
    switch (field.type) {
        case FieldType::time:
            column.width = 15;
            break;
        case FieldType::text:
            column.width = 15;
            column.left = true;
            break;
        case FieldType::endpoint:
            column.width = 21;
            column.left = true;
            break;
        case FieldType::stage:
            column.heading = field.name + "[us]";
            column.width = 10;
            break;
        case FieldType::address:
            column.width = 18;
            break;
        case FieldType::integer:
        case FieldType::value:
        case FieldType::reason:
        case FieldType::count:
        case FieldType::place:
        case FieldType::reason_name:
            column.width = 6;
            break;
    }
    column.heading = base::printable(column.heading);
    column.width = std::max(column.width, column.heading.size());
    return column;
}

void EventWriter::append_cell(std::string& line, const Column& column, std::string_view text) {
    if (!line.empty()) line += ' ';
    if (column.left) {
        fmt::format_to(std::back_inserter(line), "{:<{}}", text, column.width);
    } else {
        fmt::format_to(std::back_inserter(line), "{:>{}}", text, column.width);
    }
}

void EventWriter::record(const decode::Record& record) {
    if (ready_) {
        write(record);
    } else {
        hold(record);
    }
}

void EventWriter::ready(const decode::Ready& ready) {
    ready_ = ready;
    release();
}

void EventWriter::end() {
    release();
}

void EventWriter::interrupt() {
    if (format_ == EventFormat::table && heading_ != nullptr) out_ << '\n';
    heading_ = nullptr;
}

void EventWriter::hold(const decode::Record& record) {
    auto& held = held_.emplace_back(Held{record.schema, {}, {record.values.begin(), record.values.end()}});
    for (const auto& value : held.values)
        held.raw.emplace_back(value.raw);
}

void EventWriter::release() {
    for (auto& held : held_) {
        for (std::size_t i = 0; i < held.values.size(); ++i)
            held.values[i].raw = held.raw[i];
        write({held.schema, held.values});
    }
    held_.clear();
}

void EventWriter::write(const decode::Record& record) {
    if (format_ == EventFormat::table) {
        write_table_row(record);
    } else {
        write_object(record);
    }
}

std::optional<std::int64_t> EventWriter::epoch_of(const Value& time) const {
    if (!ready_) return std::nullopt;
    return base::saturating_add(base::saturating_subtract(time.number, ready_->monotonic_ns), ready_->epoch_ns);
}

void EventWriter::write_table_row(const decode::Record& record) {
    const auto& fields = record.schema->fields;
    std::string line;
    if (heading_ != record.schema) {
        heading_ = record.schema;
        if (!columns_.empty()) out_ << '\n';
        columns_.clear();
        for (const auto& field : fields) {
            columns_.push_back(column_of(field));
            append_cell(line, columns_.back(), columns_.back().heading);
        }
        write_line(out_, line);
        line.clear();
    }
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto& value = record.values[i];
        if (fields[i].type == FieldType::time) {
            const auto epoch = epoch_of(value);
            append_cell(line, columns_[i], epoch ? local_time_of_day(*epoch) : "-");
        } else {
            append_cell(line, columns_[i], cell(fields[i].type, value));
        }
    }
    write_line(out_, line);
}

void EventWriter::write_object(const decode::Record& record) {
    Json object;
    object["event"] = record.schema->tag;
    const auto& fields = record.schema->fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto& [name, type, attribute] = fields[i];
        if (type == FieldType::time) {
            const auto epoch = epoch_of(record.values[i]);
            object[name + "_ns"] = epoch ? Json(*epoch) : Json(nullptr);
        } else {
            object[type == FieldType::stage ? name + "_ns" : name] = json_value(type, record.values[i]);
        }
    }
    put_json(out_, object, -1);
}

}  // namespace stapgen::report
