// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/record_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "fuzz.h"
#include "schema/bins.h"

namespace {

using namespace stapgen;

std::string as_text(const decode::Record& record) {
    std::string text = record.schema->tag;
    for (const auto& value : record.values)
        text += fmt::format("\t{}={}{}", value.raw, value.number, value.seen ? "" : " not seen");
    return text + "\n";
}

/// Of a field that has statistics.
std::string field_name(const decode::Schema& schema, std::size_t field) {
    fuzz::always(field < schema.fields.size());
    const auto type = schema.fields[field].type;
    fuzz::always(type == decode::FieldType::stage || type == decode::FieldType::value);
    return schema.fields[field].name;
}

std::string as_text(const decode::Line& line) {
    if (const auto* record = std::get_if<decode::Record>(&line)) return as_text(*record);
    std::string text = fmt::format("kind {}", line.index());
    if (const auto* tick = std::get_if<decode::Tick>(&line)) {
        text += fmt::format(" {}", tick->epoch_ns);
        for (const auto& [key, value] : tick->counts)
            text += fmt::format(" {}={}", key, value);
    } else if (const auto* bins = std::get_if<decode::BinsLine>(&line)) {
        text += " " + field_name(*bins->schema, bins->field);
        fuzz::always(!bins->bins.empty());
        for (const auto& [index, count] : bins->bins) {
            fuzz::always(index >= 0 && index < schema::bins::count && count >= 0);
            text += fmt::format(" {}:{}", index, count);
        }
    } else if (const auto* sum = std::get_if<decode::SumLine>(&line)) {
        fuzz::always(sum->n > 0 && sum->min <= sum->max);
        text +=
            fmt::format(" {} {} {} {} {}", field_name(*sum->schema, sum->field), sum->n, sum->sum, sum->min, sum->max);
    } else if (const auto* split = std::get_if<decode::SplitLine>(&line)) {
        fuzz::always(split->index >= 0 && split->index < schema::bins::split_count && split->n >= 0);
        const auto parts = std::ranges::count_if(split->schema->fields, schema::divides_total);
        fuzz::always(split->sums.size() == static_cast<std::size_t>(parts));
        text += fmt::format(" {} {} {}", split->direction, split->index, split->n);
        for (const auto sum_ns : split->sums) {
            fuzz::always(sum_ns >= 0);
            text += fmt::format(" {}", sum_ns);
        }
    } else if (const auto* slow = std::get_if<decode::SlowLine>(&line)) {
        text += " " + as_text(slow->record);
    }
    return text + "\n";
}

struct Lines : decode::Sink {
    std::string all;
    void record(const decode::Record& record) override { all += as_text(record); }
    void line(const decode::Line& line) override { all += as_text(line); }
};

}  // namespace

/// take(), which the fast path is, reads exactly what feed() reads: up to the first line that cannot be read, and to a
/// second header.
FUZZ_TARGET(record_parser) {
    auto rest = fuzz::text_of(data, size);
    rest = rest.substr(0, rest.rfind('\n') + 1);
    decode::RecordParser slow, fast;
    Lines lines;
    std::string expected;
    while (!rest.empty()) {
        const auto taken = fast.take(rest, lines);
        fuzz::always(taken <= rest.size());
        auto read = rest.substr(0, taken);
        while (!read.empty()) {
            const auto end = read.find('\n');
            fuzz::always(end != std::string_view::npos);
            const auto line = slow.feed(read.substr(0, end));
            fuzz::always(!std::holds_alternative<decode::Unrecognised>(line));
            expected += as_text(line);
            read.remove_prefix(end + 1);
        }
        rest.remove_prefix(taken);
        if (rest.empty()) break;
        const auto stopped_at = rest.substr(0, rest.find('\n'));
        fuzz::always(std::holds_alternative<decode::Unrecognised>(slow.feed(stopped_at)));
        fuzz::always(std::holds_alternative<decode::Unrecognised>(fast.feed(stopped_at)));
        rest.remove_prefix(stopped_at.size() + 1);
    }
    fuzz::always(lines.all == expected);
    const auto &a = slow.input(), &b = fast.input();
    fuzz::always(a.lines == b.lines && a.recognised == b.recognised && a.unrecognised == b.unrecognised);
    fuzz::always(a.lines == a.recognised + a.unrecognised);
    fuzz::always(slow.refusal().has_value() == fast.refusal().has_value());
    return 0;
}
