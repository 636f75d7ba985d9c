#include "report/text/event_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/model/wall_time.h"

namespace stapgen::report {

namespace {

using decode::FieldType;

void write_line(std::ostream& out, std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    out << line;
}

/// The text of a table's cell, but for times.
std::string cell(FieldType type, const decode::Value& value) {
    switch (type) {
        case FieldType::text:
            return base::printable(decode::unescape(value.raw));
        case FieldType::endpoint:
            return base::printable(decode::endpoint_text(value.raw));
        case FieldType::stage:
            return value.seen ? fmt::format("{}.{:03}", value.number / 1000, value.number % 1000) : "-";
        case FieldType::address:
            return fmt::format("0x{:x}", value.address());
        default:
            break;
    }
    return base::printable(value.raw);
}

}  // namespace

/// Widths are fixed, because rows are written before the widest is known: 15 bytes are the longest name of a thread,
/// 21 the longest IPv4 endpoint, and a stage of ten digits is below a second.
EventTable::Column EventTable::column_of(const decode::Field& field) {
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
        default:
            column.width = 6;
            break;
    }
    column.heading = base::printable(column.heading);
    column.width = std::max(column.width, column.heading.size());
    return column;
}

void EventTable::append_cell(std::string& line, const Column& column, std::string_view text) {
    if (!line.empty()) line += ' ';
    if (column.left) {
        fmt::format_to(std::back_inserter(line), "{:<{}}", text, column.width);
    } else {
        fmt::format_to(std::back_inserter(line), "{:>{}}", text, column.width);
    }
}

void EventTable::interrupt() {
    if (heading_ != nullptr) out_ << '\n';
    heading_ = nullptr;
}

void EventTable::write(const decode::Record& record) {
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

}  // namespace stapgen::report
