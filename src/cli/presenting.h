#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/percentile.h"
#include "analyze/summary.h"
#include "base/result.h"
#include "decode/record.h"
#include "report/html_report.h"
#include "report/perfetto_writer.h"

namespace stapgen::cli {

enum class Format { table, json, ndjson, csv, openmetrics, html, perfetto };

/// As typed.
struct PresentOptions {
    std::string percentiles, format = "table", by;
    bool series = false, hide_benign = false;
    std::size_t top = 20, slowest = 5;
};

/// --format, one of `choices`, and -j, the same as json, or as ndjson where that is not among them. `format` holds the
/// default. `details` tells more of the choices.
void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& choices,
                const std::string& details = {});

void add_percentiles(CLI::App& command, std::string& percentiles);

/// How results are shown: -P, --format, -j, --by, --top, --slowest, --series, --hide-benign. `of_files`: --by takes
/// origin_words, too.
void add_present_options(CLI::App& command, PresentOptions& options, bool of_files = false);

/// What --by takes beside names of fields.
std::vector<std::string_view> grouping_words();

/// The same, understood.
struct Presentation {
    std::vector<analyze::Percentile> percentiles = analyze::default_percentiles();
    Format format = Format::table;
    std::optional<std::vector<std::string>>
        by;                              ///< names of fields; nothing: the keys of the records, else pid, tid, comm
    std::vector<std::string> by_origin;  ///< of origin_words
    std::size_t top = 20, slowest = 5;
    bool series = false;           ///< in the table, too
    bool hide_benign = false;      ///< of drops
    bool intervals_shown = false;  ///< each interval has been shown as it closed, by present_interval()
};

base::Result<Presentation> presentation_of(const PresentOptions& options);

/// The fields of these records to group by.
std::vector<std::string> group_fields(const Presentation& presentation, const decode::Header& header);

/// Fails where --by names what records with this first line do not have.
base::Result<void> check_groups(const Presentation& presentation, const std::string& header_line);

/// Fails where what is to be shown needs single records, and records with this header are aggregated in the kernel.
base::Result<void> check_aggregated(const Presentation& presentation, bool events, const decode::Header& header);

/// The option that asks for single records, "--by"; empty if none does.
std::string single_records_option(const Presentation& presentation, bool events);

report::HtmlOptions html_options(const Presentation& presentation, std::span<const analyze::Summary> reports);

/// Writes reports, one behind the other, as one document of the format. Not that of perfetto, which is drawn record by
/// record: of those, what their account says goes to stderr.
void present(std::ostream& out, std::span<const analyze::Summary> reports, const Presentation& presentation);

/// Writes the rest of a trace. What is not in it goes to stderr.
void finish(report::PerfettoWriter& trace);

/// Whether the format can show an interval before the end is known.
bool shows_intervals(Format format);

/// Writes the report of one interval, counted from 0, that others follow.
void present_interval(std::ostream& out, const analyze::Summary& interval, std::int64_t number,
                      const Presentation& presentation);

}  // namespace stapgen::cli
