#pragma once

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
#include "report/html/html_report.h"
#include "report/perfetto/perfetto_writer.h"

namespace stapgen::report {

enum class Format { table, json, ndjson, csv, openmetrics, html, perfetto };

/// The formats by name.
std::vector<std::string> format_names();

/// One of format_names().
Format format_named(std::string_view name);

/// What --by takes beside names of fields.
std::vector<std::string_view> grouping_words();

/// The fields that a word of grouping_words() stands for; of any other, itself.
std::vector<std::string> fields_of(std::string_view word);

/// How results are shown.
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

/// The fields of these records to group by.
std::vector<std::string> group_fields(const Presentation& presentation, const decode::Header& header);

/// Fails where --by names what records with this header do not have.
base::Result<void> check_groups(const Presentation& presentation, const decode::Header& header);

/// Fails where what is to be shown needs single records, and records with this header are aggregated in the kernel.
base::Result<void> check_aggregated(const Presentation& presentation, bool events, const decode::Header& header);

/// The option that asks for single records, "--by"; empty if none does.
std::string single_records_option(const Presentation& presentation, bool events);

HtmlOptions html_options(const Presentation& presentation, std::span<const analyze::Summary> reports);

/// Writes reports, one behind the other, as one document of the format. Not that of perfetto, which is drawn record by
/// record: of those, what their account says goes to stderr.
void present(std::ostream& out, std::span<const analyze::Summary> reports, const Presentation& presentation);

/// Writes the rest of a trace. What is not in it goes to stderr.
void finish(PerfettoWriter& trace);

/// Whether the format can show an interval before the end is known.
bool shows_intervals(Format format);

/// Writes the report of one interval, counted from 0, that others follow.
void present_interval(std::ostream& out, const analyze::Summary& interval, std::int64_t number,
                      const Presentation& presentation);

}  // namespace stapgen::report
