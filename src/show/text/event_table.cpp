// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "schema/schema.h"
#include "show/model/texts.h"
#include "show/text/sections.h"

namespace stapgen::show {

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
        case FieldType::ip:
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

/// "nagle 39.998, send-call 1.2", those that were seen; "-" where there is none.
std::string parts_text(const decode::Record& record) {
    std::string text;
    for (std::size_t i = 0; i < record.values.size(); ++i) {
        const auto& name = record.schema->fields[i].name;
        if (!schema::is_part(name) || !record.values[i].seen) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", base::printable(std::string(schema::cause_of(name))),
                            cell(FieldType::stage, record.values[i]));
    }
    return text.empty() ? "-" : text;
}

struct EventColumn {
    std::string heading;
    std::size_t width = 0;
    bool left = false;
    bool begins_line = false;
};

/// Widths are fixed, because rows are written before the widest is known: 15 bytes are the longest name of a thread,
/// 21 the longest IPv4 endpoint, and a stage of ten digits is below a second.
EventColumn column_of(const decode::Field& field) {
    const auto width = [&]() -> std::size_t {
        switch (field.type) {
            case FieldType::time:
            case FieldType::text:
            case FieldType::ip:
                return 15;
            case FieldType::endpoint:
                return 21;
            case FieldType::stage:
                return 10;
            case FieldType::address:
                return 18;
            default:
                return 6;
        }
    }();
    const auto heading =
        base::printable(field.type == FieldType::stage ? field.name + "[us]" : base::upper(field.name));
    return {heading, std::max(width, heading.size()),
            field.type == FieldType::text || field.type == FieldType::endpoint || field.type == FieldType::ip};
}

/// Of a line that is broken, before all but the first.
constexpr std::size_t further_indent = 4;

/// Where a column begins a new line.
void break_lines(std::vector<EventColumn>& columns, std::size_t width) {
    std::size_t used = 0;
    for (auto& column : columns) {
        column.begins_line = used > 0 && width > 0 && used + 1 + column.width > width;
        used = column.begins_line ? further_indent + column.width : used + (used > 0 ? 1 : 0) + column.width;
    }
}

void append_cell(std::string& line, const EventColumn& column, std::string_view text) {
    if (column.begins_line) {
        line.erase(line.find_last_not_of(' ') + 1);
        line += '\n' + std::string(further_indent, ' ');
    } else if (!line.empty()) {
        line += ' ';
    }
    line += fmt::format(fmt::runtime(column.left ? "{:<{}}" : "{:>{}}"), text, column.width);
}

class EventTable final : public EventWriter {
  public:
    EventTable(std::ostream& out, std::size_t width) : EventWriter(out), width_(width) {}
    void interrupt() override {
        if (heading_ != nullptr) out_ << '\n';
        heading_ = nullptr;
    }

  private:
    void write(const decode::Record& record) override;

    std::size_t width_;                        ///< 0: whatever it takes
    const decode::Schema* heading_ = nullptr;  ///< of the rows that were written last, and their columns
    std::vector<EventColumn> columns_;         ///< the last one for all parts of stages, if there are
    std::vector<std::size_t> fields_;          ///< of the other columns
};

void EventTable::write(const decode::Record& record) {
    const auto& fields = record.schema->fields;
    std::string line;
    if (heading_ != record.schema) {
        heading_ = record.schema;
        if (!columns_.empty()) out_ << '\n';
        columns_.clear();
        fields_.clear();
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (schema::is_part(fields[i].name)) continue;
            columns_.push_back(column_of(fields[i]));
            fields_.push_back(i);
        }
        if (fields_.size() < fields.size()) columns_.push_back({"WAITED FOR[us]", 40, true});
        break_lines(columns_, width_);
        for (const auto& column : columns_)
            append_cell(line, column, column.heading);
        write_line(out_, line);
        line.clear();
    }
    for (std::size_t at = 0; at < fields_.size(); ++at) {
        const auto& value = record.values[fields_[at]];
        const auto type = fields[fields_[at]].type;
        if (type == FieldType::time) {
            const auto epoch = epoch_of(value);
            append_cell(line, columns_[at], epoch ? local_time_of_day(*epoch) : "-");
        } else {
            append_cell(line, columns_[at], cell(type, value));
        }
    }
    if (columns_.size() > fields_.size()) append_cell(line, columns_.back(), parts_text(record));
    write_line(out_, line);
}

}  // namespace

std::unique_ptr<RecordWriter> event_table(std::ostream& out, const Options& options) {
    return std::make_unique<EventTable>(out, options.screen.width);
}

}  // namespace stapgen::show
