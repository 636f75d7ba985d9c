#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace stapgen::base {

namespace {
struct Unit {
    std::string_view name;
    double ns;
};
constexpr std::array units{Unit{"ns", 1},  Unit{"us", 1e3}, Unit{"ms", 1e6},
                           Unit{"s", 1e9}, Unit{"m", 60e9}, Unit{"h", 3600e9}};
}  // namespace

Result<std::chrono::nanoseconds> parse_duration(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
    double scale = suffix.empty() ? 1e9 : 0;
    for (const auto& unit : units) {
        if (suffix == unit.name) scale = unit.ns;
    }
    const double ns = value * scale;
    // 9e18 ns is 285 years: the most that fits the type.
    if (error != std::errc{} || scale == 0 || !(ns >= 0) || ns > 9e18) {
        return bad_input(fmt::format("'{}' is not a duration", printable(text)),
                         "write a number with ns, us, ms, s, m or h, for example 250ms; without one it is seconds");
    }
    return std::chrono::nanoseconds(std::llround(ns));
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
