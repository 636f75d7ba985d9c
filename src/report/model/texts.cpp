#include "report/model/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>

#include "base/text.h"
#include "base/units.h"

namespace stapgen::report {

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;

/// Nanoseconds within the second, also before 1970, which a damaged input may name.
std::int64_t fraction_of(std::int64_t epoch_ns) {
    const auto fraction = epoch_ns % ns_per_second;
    return fraction < 0 ? fraction + ns_per_second : fraction;
}

/// The second that it is in, which `fields_of` takes apart.
std::string formatted(std::int64_t epoch_ns, std::tm* (*fields_of)(const std::time_t*, std::tm*), const char* format) {
    const std::time_t seconds = epoch_ns / ns_per_second - (epoch_ns % ns_per_second < 0 ? 1 : 0);
    std::tm fields{};
    fields_of(&seconds, &fields);
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), format, &fields)};
}

}  // namespace

std::string Style::cell(std::optional<std::int64_t> number) const {
    if (!number) return "-";
    return is_time ? cell(static_cast<double>(*number)) : fmt::format("{}", *number);
}

std::string Style::cell(std::optional<double> number) const {
    if (!number) return "-";
    return is_time ? fmt::format("{:.{}f}", *number / 1e3, decimals) : fmt::format("{:.2f}", *number);
}

std::string group_text(const analyze::GroupField& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&field.value)) return base::printable(*text);
    return field.key;
}

std::string duration_text(std::int64_t ns) {
    return base::format_duration(std::chrono::nanoseconds(ns));
}

std::string duration_text(double ns) {
    return duration_text(std::int64_t{std::llround(std::clamp(ns, 0.0, 9e18))});
}

std::string per_second_text(double rate) {
    if (rate >= 100) return base::with_commas(std::llround(std::min(rate, 9e18)));
    return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : 1);
}

std::string utc_time(std::int64_t epoch_ns) {
    return fmt::format("{}.{:09}Z", formatted(epoch_ns, gmtime_r, "%Y-%m-%dT%H:%M:%S"), fraction_of(epoch_ns));
}

std::string local_time(std::int64_t epoch_ns) {
    return formatted(epoch_ns, localtime_r, "%Y-%m-%d %H:%M:%S %z");
}

std::string local_time_of_day(std::int64_t epoch_ns) {
    return fmt::format("{}.{:06}", formatted(epoch_ns, localtime_r, "%H:%M:%S"), fraction_of(epoch_ns) / 1000);
}

std::string seconds_text(std::int64_t ns) {
    return fmt::format("{:.6f} s", static_cast<double>(ns) / 1e9);
}

std::string end_text(const std::optional<std::int64_t>& end_epoch_ns) {
    return end_epoch_ns ? local_time(*end_epoch_ns) : "after the last tick";
}

std::string percent(double part) {
    // Without the sign of what is rounded to nothing.
    return fmt::format("{:.1f} %", std::abs(part) < 0.0005 ? 0.0 : part * 100);
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
