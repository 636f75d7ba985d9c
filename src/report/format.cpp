#include "report/format.h"

#include <algorithm>
#include <array>

#include "base/terminal.h"
#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/json/compare_json.h"
#include "report/json/event_lines.h"
#include "report/json/json_report.h"
#include "report/model/account_text.h"
#include "report/openmetrics/openmetrics_report.h"
#include "report/perfetto/perfetto_writer.h"
#include "report/text/compare_text.h"
#include "report/text/event_table.h"
#include "report/text/text_report.h"

namespace stapgen::report {

namespace {

template <class Writer>
std::unique_ptr<RecordWriter> records(std::ostream& out) {
    return std::make_unique<Writer>(out);
}

template <void (*write)(std::ostream&, const analyze::Comparison&)>
void comparison(std::ostream& out, const analyze::Comparison& compared, const analyze::Summary&,
                const analyze::Summary&, const Options&) {
    write(out, compared);
}

/// A trace has no place for it: it goes to stderr.
void tell_account(std::ostream&, std::span<const analyze::Summary> reports, const Options&) {
    for (const auto& report : reports) {
        for (const auto& line : account_lines(report))
            base::tell(line);
        for (const auto& warning : warnings_of(report))
            base::tell("warning: " + warning);
    }
}

constexpr std::array registry{
    Format{.name = "table",
           .write = write_text,
           .intervals = true,
           .records = records<EventTable>,
           .write_comparison = comparison<write_text>},
    Format{.name = "json", .write = write_json, .write_comparison = comparison<write_json>},
    Format{.name = "ndjson",
           .write = write_ndjson,
           .intervals = true,
           .records = records<EventLines>,
           .write_comparison = comparison<write_ndjson>},
    Format{.name = "csv", .write = write_csv, .write_comparison = comparison<write_csv>},
    Format{.name = "openmetrics", .write = write_openmetrics},
    Format{.name = "html", .write = write_html, .write_comparison = write_html},
    Format{.name = "perfetto", .write = tell_account, .is_trace = true, .records = records<PerfettoWriter>},
};

}  // namespace

std::span<const Format> formats() {
    return registry;
}

const Format& format_named(std::string_view name) {
    return *std::ranges::find(registry, name, &Format::name);
}

}  // namespace stapgen::report
