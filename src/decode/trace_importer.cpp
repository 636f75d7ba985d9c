#include "decode/trace_importer.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "base/saturate.h"
#include "decode/kernel_event.h"

namespace stapgen::decode {

void TraceImporter::lose(std::int64_t events) {
    base::add_saturating(lost_, events);
}

void TraceImporter::report(const Record& record, Sink& sink, std::int64_t events) {
    base::add_saturating(reported_, events);
    send(sink, record);
}

void TraceImporter::finished(Sink& sink) {
    close(sink);
    const std::array counts{Count{"seen", base::saturating_add(reported_, lost_)}, Count{"reported", reported_},
                            Count{"lost.trace buffer", lost_}};
    send(sink, End{unknown_time, std::span(counts).first(lost_ > 0 ? 3 : 2)});
}

std::vector<Note> TraceImporter::notes() const {
    if (lost_ == 0) return {};
    return {{fmt::format("{} events of whatever kind were lost by the trace buffer", lost_), NoteKind::count}};
}

DropImporter::DropImporter(std::string_view title, std::string_view recipe)
    : TraceImporter(title, 1,
                    make_header(recipe, {make_schema("drop", {{FieldType::place, "location"},
                                                              {FieldType::reason_name, "reason"},
                                                              {FieldType::count, "count"}})})) {}

void DropImporter::report_drop(std::string_view place, std::string_view reason, Sink& sink, const Value& count) {
    const std::array values{Value{place.empty() ? "unknown" : place}, reason_value(reason), count};
    report(Record{&schema(), values}, sink, count.number);
}

}  // namespace stapgen::decode
