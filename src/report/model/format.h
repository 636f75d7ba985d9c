#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "analyze/compare.h"
#include "analyze/histogram.h"
#include "analyze/summary.h"
#include "base/text.h"
#include "report/model/record_writer.h"

namespace stapgen::report {

/// How a report is written. Each format takes of it what it can show.
struct Options {
    std::vector<analyze::Percentile> percentiles = analyze::default_percentiles();
    std::size_t top = 20;                     ///< the largest so many groups, and rows of counts
    std::size_t slowest = 5;                  ///< so many of the slowest records of each direction
    std::size_t width = base::default_width;  ///< columns of text. What does not fit is left out, or as wide as it is
    bool series = false;                      ///< text: a row for each block of time
    bool hide_benign = false;                 ///< benign drops are counted, and have no rows
    bool intervals_shown = false;             ///< each interval has been written as it closed
    std::optional<std::int64_t> interval{};   ///< this is the report of one interval, counted from 0
};

/// An output format, and what it can. Null: it cannot. Each is defined beside what writes it, and named in
/// report/format.cpp.
struct Format {
    std::string_view name;
    /// Writes reports, one behind the other, as one document.
    void (*write)(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options);
    /// Writes a comparison.
    void (*write_comparison)(std::ostream& out, const analyze::Comparison& comparison, const analyze::Summary& before,
                             const analyze::Summary& after, const Options& options) = nullptr;
    /// Makes what writes single records as they come.
    std::unique_ptr<RecordWriter> (*records)(std::ostream& out) = nullptr;
    bool intervals = false;  ///< an interval can be written before the end is known, and `write` heeds its number
    bool is_trace =
        false;  ///< it is drawn by `records`, of one recording, and binary; `write` writes what is beside it
};

template <class Writer>
std::unique_ptr<RecordWriter> records_by(std::ostream& out) {
    return std::make_unique<Writer>(out);
}

}  // namespace stapgen::report
