#pragma once

#include <algorithm>
#include <ostream>
#include <span>
#include <string_view>

#include "analyze/summary.h"
#include "report/model/options.h"
#include "report/model/wall_time.h"

namespace stapgen::report {

/// Whether the table has a part for each interval: of one interval that is the whole measurement the total tells all.
inline bool shows_parts(const analyze::Summary& summary, const Options& options) {
    return options.interval || (!options.intervals_shown && summary.intervals.size() > 1);
}

/// When each interval ended, and then its rows by `write`, or `none` where there are none. `rows` are in the order of
/// their intervals.
template <class Row, class Write>
void write_intervals(std::ostream& out, const analyze::Summary& summary, std::span<const Row> rows,
                     std::string_view none, Write write) {
    for (std::size_t i = 0; i < summary.intervals.size(); ++i) {
        const auto stop =
            std::ranges::find_if(rows, [i](const Row& row) { return row.interval != static_cast<std::int64_t>(i); });
        const auto here = rows.first(static_cast<std::size_t>(stop - rows.begin()));
        rows = rows.subspan(here.size());
        const auto& end = summary.intervals[i].end_epoch_ns;
        out << (end ? local_time(*end) : "after the last tick") << '\n';
        if (here.empty()) {
            out << none << "\n\n";
        } else {
            write(here);
        }
    }
}

}  // namespace stapgen::report
