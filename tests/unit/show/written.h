// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "show/formats.h"
#include "unit/compared.h"

/// Reports of what rows.h has.
inline stapgen::show::Reports reports_of(const std::vector<stapgen::summaries::Summary>& all) {
    return {all.size(), [all](std::size_t place, const stapgen::show::Options& options) {
                return stapgen::summaries::results_of(all[place], {options.hide_benign, options.interval});
            }};
}

/// What a format writes of reports.
inline std::string written(std::string_view format, const std::vector<stapgen::summaries::Summary>& reports,
                           const stapgen::show::Options& options = {}) {
    std::ostringstream out;
    stapgen::show::format_named(format).write(out, reports_of(reports), options);
    return out.str();
}
