// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "report/presentation.h"

/// What a format writes of reports.
inline std::string written(std::string_view format, const std::vector<stapgen::analyze::Summary>& reports,
                           const stapgen::report::Options& options = {}) {
    std::ostringstream out;
    stapgen::report::format_named(format).write(out, reports, options);
    return out.str();
}

/// And of a comparison.
inline std::string written(std::string_view format, const stapgen::analyze::Comparison& comparison,
                           const stapgen::analyze::Summary& before = stapgen::analyze::Summary(),
                           const stapgen::analyze::Summary& after = stapgen::analyze::Summary()) {
    std::ostringstream out;
    stapgen::report::format_named(format).write_comparisons(
        out, std::vector{stapgen::report::Compared{comparison, before, after}}, {});
    return out.str();
}
