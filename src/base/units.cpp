// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

#include "base/text.h"

namespace stapgen::base {

namespace {
struct Unit {
    std::string_view name;
    double scale;
};
constexpr std::array durations{Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6},  Unit{"s", 1e9},
                               Unit{"", 1e9}, Unit{"m", 60e9}, Unit{"h", 3600e9}};
constexpr double kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
constexpr std::array sizes{Unit{"", 1},      Unit{"B", 1},     Unit{"kB", 1e3}, Unit{"MB", 1e6},
                           Unit{"GB", 1e9},  Unit{"K", kib},   Unit{"M", mib},  Unit{"G", gib},
                           Unit{"KiB", kib}, Unit{"MiB", mib}, Unit{"GiB", gib}};

/// Fits both kinds of 64-bit numbers, and is 285 years.
constexpr double max_quantity = 9e18;

/// A number and its unit, in the smallest unit; above max_quantity where it is too large. Nothing if it is not one or
/// is negative.
std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    const auto unit = std::ranges::find(units, suffix, &Unit::name);
    if (error != std::errc{} || unit == units.end()) return std::nullopt;
    const double scaled = value * unit->scale;
    return scaled >= 0 ? std::optional(scaled) : std::nullopt;
}
bool is_bare(std::string_view text, double quantity) {
    return quantity > 0 && (is_digit(text.back()) || text.back() == '.');
}
}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text, BareNumber bare) {
    const auto ns = parse_quantity(text, durations);
    if (!ns) {
        return bad_input(fmt::format("'{}' is not a duration", printable(text)),
                         fmt::format("write a number with ns, us, ms, s, m or h, for example 250ms{}",
                                     bare == BareNumber::seconds ? "; without one it is seconds" : ""));
    }
    if (*ns > max_quantity) return bad_input(fmt::format("'{}' is longer than 285 years", text), "write less");
    if (bare == BareNumber::refused && is_bare(text, *ns)) {
        return bad_input(fmt::format("'{}' has no unit", text), fmt::format("write {0}us, {0}ms or {0}s", text));
    }
    return std::chrono::nanoseconds(std::llround(*ns));
}

Result<std::uint64_t> parse_size(std::string_view text) {
    const auto bytes = parse_quantity(text, sizes);
    if (!bytes) {
        return bad_input(fmt::format("'{}' is not a size", printable(text)),
                         "write a number with kB, MB, GB, KiB, MiB or GiB, for example 64MB");
    }
    if (*bytes > max_quantity) return bad_input(fmt::format("'{}' is more than 9e18 bytes", text), "write less");
    if (is_bare(text, *bytes)) {
        return bad_input(fmt::format("'{}' has no unit", text), fmt::format("write {0}kB, {0}MB or {0}MiB", text));
    }
    return static_cast<std::uint64_t>(std::llround(*bytes));
}

Result<double> parse_percent(std::string_view text) {
    auto number = trim(text);
    if (number.ends_with('%')) number = trim(number.substr(0, number.size() - 1));
    double percent = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), percent, std::chars_format::fixed);
    if (error != std::errc{} || end != number.data() + number.size() || !std::isfinite(percent) || percent < 0) {
        return bad_input(fmt::format("'{}' is not a percentage", printable(text)),
                         "write percent, 0 or more, for example 5% or 2.5%");
    }
    return percent / 100;
}

std::int64_t now_epoch_ns() {
    return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string format_duration(std::chrono::nanoseconds duration) {
    const auto ns = static_cast<double>(duration.count());
    const double size = std::abs(ns);
    if (size < 1e3) return fmt::format("{} ns", duration.count());
    const auto [name, scale] = size < 1e6 ? Unit{"us", 1e3} : size < 1e9 ? Unit{"ms", 1e6} : Unit{"s", 1e9};
    const double value = ns / scale;
    const int decimals = std::abs(value) < 10 ? 2 : std::abs(value) < 100 ? 1 : 0;
    return fmt::format("{:.{}f} {}", value, decimals, name);
}

}  // namespace stapgen::base
