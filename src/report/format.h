#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>

#include "analyze/compare.h"
#include "analyze/summary.h"
#include "report/model/options.h"
#include "report/model/record_writer.h"

namespace stapgen::report {

/// An output format, and what it can. A new one is its folder and an entry in format.cpp.
struct Format {
    std::string_view name;
    /// Writes reports, one behind the other, as one document.
    void (*write)(std::ostream& out, std::span<const analyze::Summary> reports, const Options& options);
    bool intervals =
        false;  ///< an interval can be written before the end is known, and `write` heeds Options::interval
    bool is_trace =
        false;  ///< it is drawn by `records`, of one recording, and binary; `write` writes what is beside it
    /// Makes what writes single records as they come; null: it cannot.
    std::unique_ptr<RecordWriter> (*records)(std::ostream& out) = nullptr;
    /// Writes a comparison; null: it cannot.
    void (*write_comparison)(std::ostream& out, const analyze::Comparison& comparison, const analyze::Summary& before,
                             const analyze::Summary& after, const Options& options) = nullptr;
};

/// All formats; the first is the default.
std::span<const Format> formats();

/// The one of that name, which is one of formats().
const Format& format_named(std::string_view name);

}  // namespace stapgen::report
