// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "decode/kernel_event.h"
#include "decode/prompt_stripper.h"

namespace stapgen::decode {

namespace {

/// "location:place".
Field read_declaration(std::string_view text) {
    const auto colon = text.rfind(':');
    const auto type = text.substr(colon + 1);
    const auto name = std::string(text.substr(0, colon));
    if (type == "place") return {name, FieldType::place};
    if (type == "reason_name") return {name, FieldType::reason_name};
    return schema::parse_field(text).value();
}

/// Whether the first of these lines goes on with a drop whose reason did not fit on the line before it.
bool begins_with_reason(std::string_view lines) {
    const auto begin = std::min(lines.find_first_not_of(" \t>"), lines.size());
    return begin < lines.size() && lines[begin] == 'r' && lines.substr(begin).starts_with("reason:");
}

}  // namespace

Importer::Importer(std::string_view title, std::int64_t resolution_ns, std::string_view recipe,
                   std::initializer_list<std::string_view> schemas)
    : title_(title), resolution_ns_(resolution_ns), header_{.recipe = std::string(recipe)} {
    for (const auto text : schemas) {
        const auto words = base::words(text);
        Schema schema{.tag = std::string(words[0]), .index = header_.schemas.size()};
        for (std::size_t i = 1; i < words.size(); ++i)
            schema.fields.push_back(read_declaration(words[i]));
        header_.schemas.push_back(std::move(schema));
    }
}

std::size_t Importer::take(std::string_view lines, Sink& sink) {
    std::size_t taken = 0;
    while (taken < lines.size()) {
        const char* const at = lines.data() + taken;
        const auto* const end = static_cast<const char*>(std::memchr(at, '\n', lines.size() - taken));
        if (end == nullptr) break;
        std::string_view text(at, static_cast<std::size_t>(end - at));
        const auto length = text.size() + 1;
        if (text.ends_with('\r')) text.remove_suffix(1);
        if (text.size() > max_line()) break;
        const bool goes_on = begins_with_reason(lines.substr(taken + length)) && shape(text) == Shape::lacking;
        // A tag would be a part of the last field.
        if (ends_with_tag(text) || goes_on || (text.empty() ? !begun_ : !line(text, sink))) break;
        taken += length;
        ++line_number_;
    }
    return taken;
}

std::size_t Importer::take_counted(std::string_view line, std::int64_t times, Sink& sink) {
    const bool is_alone = times != 1;
    if (is_alone && (!schema().find("count") || times < 1)) return 0;
    if (is_alone && begun_) close(sink);
    times_ = times;
    const auto taken = take(line, sink);
    if (is_alone && begun_) close(sink);
    times_ = 1;
    return taken;
}

void Importer::send_counted(Sink& sink, const Record& record) {
    std::vector<Value> values(record.values.begin(), record.values.end());
    auto& count = values[record.schema->find("count").value()];
    count.number = base::saturating_multiply(count.number, times_);
    const auto raw = fmt::format_int(count.number);
    count.raw = {raw.data(), raw.size()};
    sink.record({record.schema, values});
}

void Importer::begin(Sink& sink) {
    if (begun_) return;
    begun_ = true;
    sink.line(HeaderLine{&header_});
}

void Importer::report(const Record& record, Sink& sink, std::int64_t events) {
    base::add_saturating(reported_, base::saturating_multiply(events, times_));
    send(sink, record);
}

void Importer::send_end(Sink& sink, std::string_view loss, std::int64_t lost) {
    const std::array counts{Count{"seen", base::saturating_add(reported_, lost)}, Count{"reported", reported_},
                            Count{loss, lost}};
    send(sink, End{unknown_time, std::span(counts).first(lost > 0 ? 3 : 2)});
}

void Importer::add_count(std::vector<Note>& notes, std::int64_t count, std::string_view what) {
    if (count != 0) notes.emplace_back(fmt::format("{} {}", count, what), NoteKind::count);
}

void TraceImporter::lose(std::int64_t events) {
    base::add_saturating(lost_, events);
}

void TraceImporter::finished(Sink& sink) {
    close(sink);
    send_end(sink, "lost.trace buffer", lost_);
}

std::vector<Note> TraceImporter::notes() const {
    std::vector<Note> notes;
    add_count(notes, lost_, "events were lost by the trace buffer");
    return notes;
}

void DropImporter::report_drop(std::string_view place, std::string_view reason, Sink& sink, const Value& count) {
    const std::array values{Value{place.empty() ? "unknown" : place}, reason_value(reason), count};
    report(Record{&schema(), values}, sink, count.number);
}

void DropImporter::close(Sink& sink) {
    if (drop_) report_open({}, sink, {"1", 1});
}

void DropImporter::report_open(std::string_view reason, Sink& sink, const Value& count) {
    const auto drop = *std::exchange(drop_, std::nullopt);
    const auto& place = drop.stack.place().empty() ? drop.place : drop.stack.place();
    if (place.empty() && drop.stack.lacks_place()) base::add_saturating(placeless_, count.number);
    report_drop(place, drop.reason.empty() ? reason : drop.reason, sink, count);
}

std::vector<Note> DropImporter::notes() const {
    auto notes = TraceImporter::notes();
    add_count(notes, placeless_, "drops have no place: calls are missing in their stacks");
    return notes;
}

}  // namespace stapgen::decode
