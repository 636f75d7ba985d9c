#include "decode/trace_importer.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "base/saturate.h"

namespace stapgen::decode {

void TraceImporter::lose(std::int64_t events) {
    base::add_saturating(lost_, events);
}

void TraceImporter::send_end(std::int64_t reported, Sink& sink) {
    const std::array counts{Count{"seen", base::saturating_add(reported, lost_)}, Count{"reported", reported},
                            Count{"lost.trace buffer", lost_}};
    send(sink, End{unknown_time, std::span(counts).first(lost_ > 0 ? 3 : 2)});
}

std::vector<Note> TraceImporter::notes() const {
    if (lost_ == 0) return {};
    return {{fmt::format("{} events of whatever kind were lost by the trace buffer", lost_), NoteKind::count}};
}

}  // namespace stapgen::decode
