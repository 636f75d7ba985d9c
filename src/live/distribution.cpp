#include "live/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace stapgen::live {

namespace {

constexpr std::array<std::string_view, 8> blocks{"\u2581", "\u2582", "\u2583", "\u2584",
                                                 "\u2585", "\u2586", "\u2587", "\u2588"};
constexpr std::array<std::string_view, 8> letters{".", ":", "-", "=", "+", "*", "#", "@"};

/// "10us", "1k".
std::string power_text(int power, bool is_time) {
    constexpr std::array<std::string_view, 7> times{"ns", "us", "ms", "s", "ks", "Ms", "Gs"};
    constexpr std::array<std::string_view, 7> numbers{"", "k", "M", "G", "T", "P", "E"};
    constexpr std::array<int, 3> factors{1, 10, 100};
    const auto thousands = static_cast<std::size_t>(power / 3);
    return fmt::format("{}{}", factors[static_cast<std::size_t>(power % 3)],
                       is_time ? times[thousands] : numbers[thousands]);
}

int power_below(std::int64_t number) {
    return static_cast<int>(std::floor(std::log10(static_cast<double>(std::max<std::int64_t>(number, 1)))));
}

}  // namespace

Scale::Scale(std::int64_t least, std::int64_t most, std::size_t columns)
    : first_(power_below(least)), last_(std::max(first_, power_below(most)) + 1) {
    for (std::size_t i = 0; i < columns; ++i) {
        const double power = first_ + (last_ - first_) * static_cast<double>(i) / static_cast<double>(columns);
        lowest_.push_back(static_cast<std::int64_t>(std::ceil(std::pow(10.0, power) - 1e-6)));
    }
}

std::string Scale::labels(bool is_time) const {
    std::string text;
    for (int power = first_; power < last_; ++power) {
        const auto column =
            static_cast<std::size_t>(power - first_) * columns() / static_cast<std::size_t>(last_ - first_);
        const auto label = power_text(power, is_time);
        if ((!text.empty() && text.size() >= column) || column + label.size() > columns()) continue;
        text.resize(column, ' ');
        text += label;
    }
    return text;
}

std::string distribution(const analyze::Histogram& stats, const Scale& scale, bool utf8) {
    std::vector<std::int64_t> counts(scale.columns());
    counts.front() = stats.below();
    counts.back() = stats.above();
    std::size_t column = 0;
    stats.for_each_bin([&](int bin, std::int64_t count) {
        const auto value = analyze::bins::middle(bin);
        while (column + 1 < counts.size() && value >= scale.lowest(column + 1))
            ++column;
        counts[column] += count;
    });
    const auto highest = std::max<std::int64_t>(1, std::ranges::max(counts));
    const auto& steps = utf8 ? blocks : letters;
    std::string text;
    for (const auto count : counts) {
        const auto part = static_cast<double>(count) / static_cast<double>(highest);
        const auto eighths = static_cast<std::size_t>(std::ceil(part * 8));
        text += eighths == 0 ? std::string_view(" ") : steps[eighths - 1];
    }
    return text;
}

}  // namespace stapgen::live
