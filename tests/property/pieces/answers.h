// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <sstream>
#include <string>

#include "report/presentation.h"
#include "session/pieces.h"

/// What was said of a text, to be compared with what was said of it in pieces.
namespace stapgen::pieces {

inline std::string written(std::span<const analyze::Summary> summaries, report::Presentation presentation,
                           std::span<const report::Format> formats = report::formats()) {
    std::ostringstream out;
    for (const auto& format : formats) {
        if (format.is_trace) continue;  // draws each record in its order: nothing is read in pieces
        presentation.format = &format;
        report::present(out, summaries, presentation);
    }
    return out.str();
}

/// All numbers and all sentences: the other formats are made of these, and a page takes as long as all of them.
inline std::span<const report::Format> numbers_and_text() {
    static const auto formats = std::to_array({report::format_named("json"), report::format_named("table")});
    return formats;
}

/// About so many pieces.
inline session::Reading in_pieces(std::size_t size, std::size_t pieces) {
    return {.cores = 2 + pieces % 3, .piece_size = 4 * std::max<std::size_t>(1, size / pieces)};
}

/// Where two texts begin to differ; empty: nowhere.
inline std::string difference(const std::string& a, const std::string& b) {
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    const auto from = at - std::min<std::size_t>(at, 60);
    return a == b ? "" : fmt::format("\"{}\" and not \"{}\"", b.substr(from, 120), a.substr(from, 120));
}

}  // namespace stapgen::pieces
