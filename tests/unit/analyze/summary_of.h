// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/analyzer.h"
#include "base/text.h"
#include "decode/record_parser.h"
#include "unit/rows.h"

constexpr std::int64_t second = 1'000'000'000;

/// Of whole lines, the first of which is the header.
inline stapgen::summaries::Summary summary_of(const std::string& text, const std::vector<std::string>& group_by) {
    using stapgen::analyze::Analyzer;
    stapgen::decode::RecordParser parser;
    std::optional<Analyzer> analyzer;
    for (const auto line : stapgen::base::split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
        const auto parsed = parser.feed(line);
        if (!analyzer) analyzer = Analyzer::create(*parser.header(), {.group_by = group_by}).value();
        analyzer->add(parsed);
    }
    return stapgen::summaries::summary_of(analyzer->measured());
}
