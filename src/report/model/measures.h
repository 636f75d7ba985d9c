#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/percentile.h"
#include "analyze/summary.h"

namespace stapgen::report {

/// How the numbers of one table are written: ns as us with so many decimals, or plain numbers. "-" for what is not
/// known.
struct Style {
    bool is_time = true;
    int decimals = 3;

    [[nodiscard]] std::string cell(std::optional<std::int64_t> number) const;
    [[nodiscard]] std::string cell(std::optional<double> number) const;
    [[nodiscard]] std::string cell(std::int64_t number) const { return cell(std::optional(number)); }
    [[nodiscard]] std::string cell(double number) const { return cell(std::optional(number)); }
};

/// A row of a table of stages or of values.
struct Row {
    const analyze::Measure* measure = nullptr;
    /// Of a stage: its part of the time of all stages of its direction and group, 0 to 1, "total" left out of that;
    /// about 1 of "total" itself. Nothing where that time is 0.
    std::optional<double> share{};
    bool is_rest = false;  ///< the groups that have no rows of their own, together: as exact as what it is made of
};
using Rows = std::vector<Row>;

/// One style for all numbers of a table, so that they line up: whole ns until a tenth of a second is among them.
Style style_of(const Rows& rows, bool is_time);

/// What the "-" in place of a percentile means: "-: not enough samples; P99 needs 368". Empty if there is none.
std::string too_few_text(const Rows& rows, const std::vector<analyze::Percentile>& percentiles);

/// The value of one key of a group; control characters made visible.
std::string group_text(const analyze::GroupField& field);

using Measures = std::vector<const analyze::Measure*>;

/// Those of the whole, in the order in which each Block of the series has them.
Measures in_series(const std::vector<analyze::Measure>& measures);

/// "1.23 ms".
std::string duration_text(double ns);
/// So often in each second: "1,234", "12.3", "1.23".
std::string per_second_text(double rate);
/// Text of the input as a cell of CSV: cleaned, quoted where it must be, and with an apostrophe in front where a
/// spreadsheet would take it for a formula.
std::string csv_cell(std::string_view raw);

/// "icmp_rcv+0x1f [module]", or the address; control characters made visible.
std::string place_text(const analyze::Drop& drop);
/// The name of the reason or else its number; "-" where there is none.
std::string reason_text(const analyze::Drop& drop);

}  // namespace stapgen::report
