#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::report {

/// For each stage its part of the time of all stages of the same group, the stage "total" left out of that: 0 to 1,
/// and about 1 for "total" itself. Nothing where that time is 0.
std::vector<std::optional<double>> shares_of(const std::vector<analyze::Measure>& stages);

/// The measures of the largest groups, and of all others together.
struct TopGroups {
    std::vector<const analyze::Measure*> shown;
    std::vector<analyze::Measure> rest;  ///< their group is {"other": true}; as exact as what it is made of
    std::size_t groups = 0;              ///< how many there are
    std::size_t in_rest = 0;             ///< how many of them are in `rest`
};
TopGroups top_groups(const std::vector<analyze::Measure>& measures, std::size_t most);

/// What is no UTF-8 becomes U+FFFD, control characters become \xNN: for formats whose readers refuse such bytes.
std::string clean_text(std::string_view text);

/// Text of the input as a cell of CSV: cleaned, quoted where it must be, and with an apostrophe in front where a
/// spreadsheet would take it for a formula.
std::string csv_cell(std::string_view raw);

/// "icmp_rcv+0x1f [module]", or the address; control characters made visible.
std::string place_text(const analyze::Drop& drop);
/// The name of the reason or else its number; "-" where there is none.
std::string reason_text(const analyze::Drop& drop);

}  // namespace stapgen::report
