#include "report/html/html_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stapgen::report::html {

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

}  // namespace stapgen::report::html
