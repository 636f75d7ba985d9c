// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/reads_text.h"

#include <fmt/format.h>

#include <cstdint>

#include "analyze/results.h"
#include "base/text.h"
#include "table/texts.h"

namespace stapgen::analyze {

namespace {

std::int64_t packets_read(const rows::Results& results) {
    std::int64_t n = 0;
    for (const auto& row : results.of<rows::Stage>()) {
        if ((row.stage == "tcp-app" || row.stage == "udp-app") && row.group.empty()) n += row.distribution->n();
    }
    return n;
}

double ratio(std::int64_t of, std::int64_t by) {
    return static_cast<double>(of) / static_cast<double>(by);
}

}  // namespace

std::string reads_text(const rows::Results& results) {
    const auto segments = counted_beside(results, "wire-segments"), calls = counted_beside(results, "receives"),
               packets = packets_read(results);
    if (segments == 0 || packets == 0) return {};
    auto text = fmt::format("GRO: {:.3g} wire segments per packet", ratio(segments, packets));
    if (calls > 0) {
        text += fmt::format(", {:.3g} per receive call ({} in {} call{})", ratio(segments, calls),
                            base::with_commas(segments), base::with_commas(calls), calls == 1 ? "" : "s");
    }
    return text;
}

}  // namespace stapgen::analyze
