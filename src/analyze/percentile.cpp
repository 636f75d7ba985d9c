#include "analyze/percentile.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace stapgen::analyze {

namespace {
constexpr double tail = 0.025;  // on either side: 95 % in all
}

base::Result<std::vector<Percentile>> parse_percentiles(std::string_view text) {
    constexpr const char* hint = "write numbers above 0 and below 100 with commas between, for example 50,90,99,99.9";
    std::vector<Percentile> percentiles;
    for (const auto part : base::split(text, ',')) {
        Percentile percentile{std::string(base::trim(part)), 0};
        const auto& typed = percentile.text;
        const auto [end, error] =
            std::from_chars(typed.data(), typed.data() + typed.size(), percentile.percent, std::chars_format::fixed);
        if (error != std::errc{} || end != typed.data() + typed.size() || !(percentile.percent > 0) ||
            !(percentile.percent < 100)) {
            return base::bad_input(fmt::format("'{}' is not a percentile", base::printable(typed)), hint);
        }
        if (std::ranges::find(percentiles, percentile.percent, &Percentile::percent) != percentiles.end()) {
            return base::bad_input(fmt::format("percentile {} is given twice", typed), hint);
        }
        percentiles.push_back(std::move(percentile));
    }
    return percentiles;
}

std::vector<Percentile> default_percentiles() {
    return {{"50", 50}, {"90", 90}, {"99", 99}, {"99.9", 99.9}};
}

std::optional<Ranks> confidence_ranks(std::int64_t n, double percent) {
    if (n < values_needed(percent)) return std::nullopt;
    const boost::math::binomial below(static_cast<double>(n), percent / 100);
    // Boost rounds both quantiles outwards: cdf(low) <= 0.025 and cdf(high) >= 0.975.
    const auto low = static_cast<std::int64_t>(boost::math::quantile(below, tail)) + 1;
    const auto high = static_cast<std::int64_t>(boost::math::quantile(boost::math::complement(below, tail))) + 1;
    return Ranks{std::clamp<std::int64_t>(low, 1, n), std::clamp<std::int64_t>(high, 1, n)};
}

std::int64_t values_needed(double percent) {
    const double rarer = std::min(percent, 100 - percent) / 100;
    return static_cast<std::int64_t>(std::ceil(std::log(tail) / std::log1p(-rarer)));
}

std::int64_t nearest_rank(std::int64_t n, double percent) {
    // 99.9 and the like are no binary fractions: without the slack 99.9 % of 1000 would be rank 1000.
    const long double exact = static_cast<long double>(n) * percent / 100;
    const auto rank = static_cast<std::int64_t>(std::ceil(exact * (1 - 1e-14L)));
    return std::clamp<std::int64_t>(rank, 1, std::max<std::int64_t>(n, 1));
}

}  // namespace stapgen::analyze
