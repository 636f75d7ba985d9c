#include "report/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/units.h"
#include "report/wall_time.h"

namespace stapgen::report::html {

std::string Style::cell(std::optional<std::int64_t> number) const {
    if (!number) return "-";
    if (!is_time) return fmt::format("{}", *number);
    return fmt::format("{:.{}f}", static_cast<double>(*number) / 1e3, decimals);
}

std::string Style::cell(std::optional<double> number) const {
    if (!number) return "-";
    return is_time ? fmt::format("{:.{}f}", *number / 1e3, decimals) : fmt::format("{:.2f}", *number);
}

Style style_of(const Measures& measures, bool is_time) {
    std::int64_t largest = 0;
    for (const auto* measure : measures)
        largest = std::max(largest, measure->stats.max().value_or(0));
    return {is_time, largest < 100'000'000 ? 3 : 2};
}

Measures of_whole(const std::vector<analyze::Measure>& measures) {
    Measures whole;
    for (const auto& measure : measures) {
        if (measure.group.empty()) whole.push_back(&measure);
    }
    const auto is_empty = [](const analyze::Measure* measure) { return measure->stats.n() == 0; };
    if (!std::ranges::all_of(whole, is_empty)) std::erase_if(whole, is_empty);
    return whole;
}

std::string percent(double part) {
    // Without the sign of what is rounded to nothing.
    return fmt::format("{:.1f} %", std::abs(part) < 0.0005 ? 0.0 : part * 100);
}

std::string text_of(const analyze::GroupField& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&field.value)) return *text;
    return field.key;
}

std::string span_of(const analyze::Summary& summary) {
    const auto& start = summary.start_epoch_ns;
    const auto& end = summary.end_epoch_ns;
    if (!start) return "";
    if (!end || *end <= *start || *start < 0) return local_time(*start);
    return fmt::format("{}, for {}", local_time(*start),
                       base::format_duration(std::chrono::nanoseconds(*end - *start)));
}

}  // namespace stapgen::report::html
