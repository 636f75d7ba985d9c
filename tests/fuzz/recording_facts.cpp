#include "fuzz.h"
#include "recording/facts.h"

using namespace stapgen;

/// What was read of a recording's own line and written again reads as the same.
FUZZ_TARGET(recording_facts) {
    const auto line = fuzz::text_of(data, size);
    const auto own = recording::parse_own_line(line);
    if (!own) return 0;
    fuzz::always(line.find(own->json) != std::string_view::npos);
    if (own->is_head) {
        fuzz::always(own->version >= 1);
        const auto head = recording::parse_head(own->json);
        if (!head) return 0;
        const auto written = recording::head_line(*head);
        const auto again = recording::parse_own_line(std::string_view(written).substr(0, written.size() - 1));
        fuzz::always(again && again->is_head && again->version == head->version);
        fuzz::always(recording::head_line(recording::parse_head(again->json).value()) == written);
    } else {
        const auto tail = recording::parse_tail(own->json);
        if (!tail) return 0;
        const auto written = recording::tail_line(*tail);
        const auto again = recording::parse_own_line(std::string_view(written).substr(0, written.size() - 1));
        fuzz::always(again && !again->is_head);
        fuzz::always(recording::tail_line(recording::parse_tail(again->json).value()) == written);
    }
    return 0;
}
