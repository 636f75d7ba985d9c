#include "report/model/wall_time.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace stapgen::report {

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;

/// Nanoseconds within the second, also before 1970, which a damaged input may name.
std::int64_t fraction_of(std::int64_t epoch_ns) {
    const auto fraction = epoch_ns % ns_per_second;
    return fraction < 0 ? fraction + ns_per_second : fraction;
}

/// Whole seconds, rounded down.
std::time_t seconds_of(std::int64_t epoch_ns) {
    return epoch_ns / ns_per_second - (epoch_ns % ns_per_second < 0 ? 1 : 0);
}

std::string formatted(const std::tm& fields, const char* format) {
    std::array<char, 64> text{};
    return {text.data(), std::strftime(text.data(), text.size(), format, &fields)};
}

}  // namespace

std::string utc_time(std::int64_t epoch_ns) {
    const std::time_t seconds = seconds_of(epoch_ns);
    std::tm fields{};
    gmtime_r(&seconds, &fields);
    return fmt::format("{}.{:09}Z", formatted(fields, "%Y-%m-%dT%H:%M:%S"), fraction_of(epoch_ns));
}

std::string local_time(std::int64_t epoch_ns) {
    const std::time_t seconds = seconds_of(epoch_ns);
    std::tm fields{};
    localtime_r(&seconds, &fields);
    return formatted(fields, "%Y-%m-%d %H:%M:%S %z");
}

std::string local_time_of_day(std::int64_t epoch_ns) {
    const std::time_t seconds = seconds_of(epoch_ns);
    std::tm fields{};
    localtime_r(&seconds, &fields);
    return fmt::format("{}.{:06}", formatted(fields, "%H:%M:%S"), fraction_of(epoch_ns) / 1000);
}

std::string seconds_text(std::int64_t ns) {
    return fmt::format("{:.6f} s", static_cast<double>(ns) / 1e9);
}

}  // namespace stapgen::report
