#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/summary.h"

/// Numbers and sentences as they stand in the text report.
namespace stapgen::report::html {

/// How the durations of one table are written: ns as us with so many decimals.
struct Style {
    bool is_time = true;
    int decimals = 3;

    [[nodiscard]] std::string cell(std::optional<std::int64_t> number) const;
    [[nodiscard]] std::string cell(std::optional<double> number) const;
    [[nodiscard]] std::string cell(std::int64_t number) const { return cell(std::optional(number)); }
    [[nodiscard]] std::string cell(double number) const { return cell(std::optional(number)); }
};

using Measures = std::vector<const analyze::Measure*>;

/// One for all numbers of a table: whole ns until a tenth of a second is among them.
Style style_of(const Measures& measures, bool is_time);

/// Those of the whole, without the empty ones unless there are no others.
Measures of_whole(const std::vector<analyze::Measure>& measures);

/// "12.3 %"
std::string percent(double part);

std::string text_of(const analyze::GroupField& field);
/// When it began, and for how long; "" if the input does not tell.
std::string span_of(const analyze::Summary& summary);

}  // namespace stapgen::report::html
