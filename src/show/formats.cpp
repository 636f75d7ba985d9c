// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/formats.h"

#include <algorithm>
#include <array>

#include "show/html/html_sections.h"
#include "show/text/sections.h"

namespace stapgen::show {

/// Each is at the end of the file that writes it. A new one is such a file, and its name here and below.
extern const Format json_format, ndjson_format, csv_format, openmetrics_format, perfetto_format, folded_format;

std::span<const Format> formats() {
    static const std::array all{table_format,       json_format, ndjson_format,   csv_format,
                                openmetrics_format, html_format, perfetto_format, folded_format};
    return all;
}

const Format& format_named(std::string_view name) {
    return *std::ranges::find(formats(), name, &Format::name);
}

}  // namespace stapgen::show
