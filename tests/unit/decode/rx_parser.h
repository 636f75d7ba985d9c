// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <optional>
#include <string>

#include "decode/record_parser.h"

namespace rx_parser {

using namespace stapgen::decode;

inline constexpr std::string_view rx_header =
    "stapgen\t1\trx-latency\trx\ttime:time\tcpu:int\tpid:int\ttid:int\tcomm:text\tdrv-ip:stage\tip-tcp:stage"
    "\ttcp-app:stage";

struct RxParser : RecordParser {
    RxParser() { REQUIRE(std::holds_alternative<HeaderLine>(feed(rx_header))); }
};

/// The flaw of a line, nothing if it was read.
inline std::optional<Flaw> flaw_of(RecordParser& parser, std::string_view line) {
    const auto parsed = parser.feed(line);
    const auto* unrecognised = std::get_if<Unrecognised>(&parsed);
    return unrecognised != nullptr ? std::optional(unrecognised->flaw) : std::nullopt;
}

inline std::string text_of(const Record& record) {
    std::string text = record.schema->tag;
    for (const auto& value : record.values)
        text += fmt::format("|{} {} {}", value.raw, value.number, value.seen);
    return text;
}

}  // namespace rx_parser
