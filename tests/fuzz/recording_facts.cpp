// SPDX-License-Identifier: GPL-2.0-or-later
#include "fuzz.h"
#include "recording/facts.h"

using namespace stapgen;

/// What was read of a recording's own line and written again reads as the same.
FUZZ_TARGET(recording_facts) {
    const auto line = fuzz::text_of(data, size);
    const auto own = recording::parse_own_line(line);
    if (!own) return 0;
    fuzz::always(line.find(own->json) != std::string_view::npos);
    if (own->is_header) {
        fuzz::always(own->version >= 1);
        const auto header = recording::parse_header(own->json);
        if (!header) return 0;
        const auto written = recording::header_line(*header);
        const auto again = recording::parse_own_line(std::string_view(written).substr(0, written.size() - 1));
        fuzz::always(again && again->is_header && again->version == header->version);
        fuzz::always(recording::header_line(recording::parse_header(again->json).value()) == written);
    } else {
        const auto trailer = recording::parse_trailer(own->json);
        if (!trailer) return 0;
        const auto written = recording::trailer_line(*trailer);
        const auto again = recording::parse_own_line(std::string_view(written).substr(0, written.size() - 1));
        fuzz::always(again && !again->is_header);
        fuzz::always(recording::trailer_line(recording::parse_trailer(again->json).value()) == written);
    }
    return 0;
}
