#include "report/format.h"

#include <algorithm>
#include <array>

#include "report/html/html_sections.h"
#include "report/text/sections.h"

namespace stapgen::report {

/// Each is at the end of the file that writes it. A new one is such a file, and its name here and below.
extern const Format json_format, ndjson_format, csv_format, openmetrics_format, perfetto_format;

std::span<const Format> formats() {
    static const std::array all{table_format,       json_format, ndjson_format,  csv_format,
                                openmetrics_format, html_format, perfetto_format};
    return all;
}

const Format& format_named(std::string_view name) {
    return *std::ranges::find(formats(), name, &Format::name);
}

}  // namespace stapgen::report
