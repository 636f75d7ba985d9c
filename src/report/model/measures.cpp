#include "report/model/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/text.h"
#include "base/units.h"

namespace stapgen::report {

std::string Style::cell(std::optional<std::int64_t> number) const {
    if (!number) return "-";
    return is_time ? cell(static_cast<double>(*number)) : fmt::format("{}", *number);
}

std::string Style::cell(std::optional<double> number) const {
    if (!number) return "-";
    return is_time ? fmt::format("{:.{}f}", *number / 1e3, decimals) : fmt::format("{:.2f}", *number);
}

Style style_of(const Rows& rows, bool is_time) {
    std::int64_t largest = 0;
    for (const auto& row : rows)
        largest = std::max(largest, row.measure->stats.max().value_or(0));
    return {is_time, largest < 100'000'000 ? 3 : 2};
}

std::string too_few_text(const Rows& rows, const std::vector<analyze::Percentile>& percentiles) {
    std::string needs;
    for (const auto& [text, percent] : percentiles) {
        const bool missing =
            std::ranges::any_of(rows, [p = percent](const Row& row) { return !row.measure->stats.percentile(p); });
        if (!missing) continue;
        needs += fmt::format("{} P{} needs {}", needs.empty() ? "" : ",", text, analyze::values_needed(percent));
    }
    return needs.empty() ? needs : "-: not enough samples;" + needs;
}

std::string group_text(const analyze::GroupField& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&field.value)) return base::printable(*text);
    return field.key;
}

Measures in_series(const std::vector<analyze::Measure>& measures) {
    Measures whole;
    for (const auto& measure : measures) {
        if (measure.group.empty()) whole.push_back(&measure);
    }
    return whole;
}

std::string duration_text(double ns) {
    return base::format_duration(std::chrono::nanoseconds(std::llround(std::clamp(ns, 0.0, 9e18))));
}

std::string per_second_text(double rate) {
    if (rate >= 100) return base::with_commas(std::llround(std::min(rate, 9e18)));
    return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : 1);
}

std::string csv_cell(std::string_view raw) {
    auto text = base::printable(raw);
    // Blanks are skipped by some spreadsheets before they look for a formula.
    const auto first = text.find_first_not_of(' ');
    if (first != std::string::npos && std::string_view("=+-@").find(text[first]) != std::string_view::npos)
        text.insert(0, 1, '\'');
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string cell = "\"";
    for (const char c : text) {
        if (c == '"') cell += '"';
        cell += c;
    }
    return cell + '"';
}

std::string place_text(const analyze::Drop& drop) {
    std::string text = drop.symbol ? base::printable(*drop.symbol) : fmt::format("0x{:x}", drop.address.value_or(0));
    if (drop.symbol && drop.offset) text += fmt::format("+0x{:x}", *drop.offset);
    if (drop.module) text += fmt::format(" [{}]", base::printable(*drop.module));
    return text;
}

std::string reason_text(const analyze::Drop& drop) {
    if (drop.reason_name) return base::printable(*drop.reason_name);
    return drop.reason < 0 ? "-" : fmt::format("{}", drop.reason);
}

}  // namespace stapgen::report
