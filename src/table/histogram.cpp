// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <charconv>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/text.h"

namespace stapgen::table {

namespace {
constexpr double tail = 0.025;  // on either side: 95 % in all
constexpr std::int64_t square_limit = std::int64_t{1} << 47;
constexpr std::int64_t round = std::int64_t{1} << 16;  // of a bin's low bits
constexpr int coarse_bits = 48;
__extension__ using WideUnsigned = unsigned __int128;

/// Rounds a number that is not negative.
WideUnsigned whole(long double value) {
    return static_cast<WideUnsigned>(value + 0.5L);
}
}  // namespace

Histogram& Histogram::operator=(const Histogram& other) {
    if (this != &other) *this = Histogram(other);
    return *this;
}

void Histogram::make(std::unique_ptr<Chunk>& chunk) {
    chunk = std::make_unique<Chunk>();
    ++made_chunks_;
}

void Histogram::note_overflow(unsigned bin) {
    ++overflows_[static_cast<int>(bin)];
}

void Histogram::add_outside(std::int64_t value) {
    ++(value < 0 ? below_ : above_);
    add_squares(value, 1);
}

void Histogram::add_squares(std::int64_t value, std::int64_t count) {
    const auto square = static_cast<WideUnsigned>(Wide{value} * value);
    const bool is_exact = value < square_limit && value > -square_limit;
    (is_exact ? squares_ : coarse_squares_) +=
        (is_exact ? square : square >> coarse_bits) * static_cast<WideUnsigned>(count);
}

bool Histogram::add(std::int64_t value, std::int64_t count) {
    if (count < 0 || count > most - n_) return false;
    if (count == 0) return true;
    n_ += count;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    sum_ += Wide{value} * count;
    add_squares(value, count);
    if (value < 0) {
        below_ += count;
    } else if (value > largest_binned) {
        above_ += count;
    } else {
        add_to_bin(bins::index_of(value), count);
    }
    return true;
}

void Histogram::set_totals(const Totals& totals) {
    if (totals.n > n_) {
        const auto outside = totals.n - n_;
        const auto mean = static_cast<std::int64_t>((totals.sum - sum_) / outside);
        const bool is_above = totals.max > largest_binned;
        if (!add(is_above ? std::clamp(mean, largest_binned + 1, totals.max)
                          : std::clamp(mean, std::min<std::int64_t>(totals.min, -1), std::int64_t{-1}),
                 outside)) {
            return;
        }
    }
    if (n_ == 0) return;
    const auto deviations = squared_deviations();
    sum_ = totals.sum;
    min_ = totals.min;
    max_ = totals.max;
    const auto n = static_cast<long double>(n_);
    if (coarse_squares_ != 0 || deviations > 0x1p120L) {
        const auto sum = static_cast<long double>(sum_);
        squares_ = 0;
        coarse_squares_ = whole(std::ldexp(deviations + sum * (sum / n), -coarse_bits));
        return;
    }
    // The number that squared_deviations() turns into the same again.
    const auto center = static_cast<WideUnsigned>(sum_ / n_);
    const auto rest = static_cast<long double>(sum_ % n_);
    squares_ = whole(deviations + rest * (rest / n)) + 2 * center * static_cast<WideUnsigned>(sum_) -
               static_cast<std::uint64_t>(n_) * center * center;
}

/// The sum of the squares of the distances from the mean.
long double Histogram::squared_deviations() const {
    const auto n = static_cast<long double>(n_);
    if (coarse_squares_ != 0) {
        const auto sum = static_cast<long double>(sum_);
        const auto squares =
            static_cast<long double>(squares_) + std::ldexp(static_cast<long double>(coarse_squares_), coarse_bits);
        return std::max(squares - sum * (sum / n), 0.0L);
    }
    // From the whole-numbered mean, exact: what overflows on the way cancels out.
    const auto center = static_cast<WideUnsigned>(sum_ / n_);
    const auto squares =
        squares_ - 2 * center * static_cast<WideUnsigned>(sum_) + static_cast<std::uint64_t>(n_) * center * center;
    const auto rest = static_cast<long double>(sum_ % n_);
    return std::max(static_cast<long double>(squares) - rest * (rest / n), 0.0L);
}

int Histogram::compare(const Histogram& other) const {
    const auto figures = [](const Histogram& of) {
        return std::tie(of.n_, of.sum_, of.min_, of.max_, of.squares_, of.coarse_squares_, of.below_, of.above_,
                        of.overflows_);
    };
    if (figures(*this) != figures(other)) return figures(*this) < figures(other) ? -1 : 1;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        if (!chunks_[i] || !other.chunks_[i]) {
            if (chunks_[i] || other.chunks_[i]) return chunks_[i] ? 1 : -1;
        } else if (*chunks_[i] != *other.chunks_[i]) {
            return *chunks_[i] < *other.chunks_[i] ? -1 : 1;
        }
    }
    return 0;
}

void Histogram::add_to_bin(int bin, std::int64_t count) {
    auto& chunk = chunks_[static_cast<unsigned>(bin) / bins::per_doubling];
    if (!chunk) make(chunk);
    auto& low = (*chunk)[static_cast<unsigned>(bin) % bins::per_doubling];
    const std::int64_t sum = low + count;
    low = static_cast<Low>(sum);
    if (sum >= round) overflows_[bin] += sum / round;
}

void Histogram::add_chunk(std::size_t place, const Chunk& from) {
    auto& into = *chunks_[place];
    bool overflows = false;
    for (std::size_t i = 0; i < into.size(); ++i) {
        into[i] = static_cast<Low>(into[i] + from[i]);
        overflows |= into[i] < from[i];
    }
    if (!overflows) return;
    for (std::size_t i = 0; i < into.size(); ++i) {
        if (into[i] < from[i]) note_overflow(static_cast<unsigned>(place * bins::per_doubling + i));
    }
}

Histogram& Histogram::operator+=(const Histogram& other) {
    if (this == &other) return *this += Histogram(other);
    resolution_ = std::max(resolution_, other.resolution_);
    if (other.n_ > most - n_) return *this;
    n_ += other.n_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
    squares_ += other.squares_;
    coarse_squares_ += other.coarse_squares_;
    below_ += other.below_;
    above_ += other.above_;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        if (!other.chunks_[i]) continue;
        if (!chunks_[i]) make(chunks_[i]);
        add_chunk(i, *other.chunks_[i]);
    }
    for (const auto& [bin, times] : other.overflows_)
        overflows_[bin] += times;
    return *this;
}

std::int64_t Histogram::overflow_of(int bin) const {
    const auto found = overflows_.find(bin);
    return found == overflows_.end() ? 0 : found->second * round;
}

std::optional<std::int64_t> Histogram::min() const {
    return n_ > 0 ? std::optional(min_) : std::nullopt;
}

std::optional<std::int64_t> Histogram::max() const {
    return n_ > 0 ? std::optional(max_) : std::nullopt;
}

std::int64_t Histogram::whole_sum() const {
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<Wide>(sum_, Limits::min(), Limits::max()));
}

std::optional<double> Histogram::mean() const {
    if (n_ == 0) return std::nullopt;
    return static_cast<double>(static_cast<long double>(sum_) / static_cast<long double>(n_));
}

std::optional<double> Histogram::stddev() const {
    if (n_ < 2) return std::nullopt;
    return static_cast<double>(std::sqrt(squared_deviations() / static_cast<long double>(n_ - 1)));
}

std::int64_t Histogram::value_of(int bin) const {
    const auto middle = bins::middle(bin);
    if (resolution_ <= 1) return std::clamp(middle, min_, max_);
    return std::clamp((middle + resolution_ / 2) / resolution_ * resolution_, min_, max_);
}

std::int64_t Histogram::value_at(std::int64_t rank) const {
    if (rank <= 1 || rank <= below_) return min_;
    if (rank >= n_) return max_;
    std::int64_t before = below_;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        if (!chunks_[i]) continue;
        const auto first = static_cast<int>(i) * bins::per_doubling, behind = first + bins::per_doubling;
        auto count = std::accumulate(chunks_[i]->begin(), chunks_[i]->end(), std::int64_t{0});
        for (auto at = overflows_.lower_bound(first); at != overflows_.lower_bound(behind); ++at)
            count += at->second * round;
        if (before + count < rank) {
            before += count;
            continue;
        }
        for (int bin = first; bin < behind; ++bin) {
            before += (*chunks_[i])[static_cast<std::size_t>(bin - first)] + overflow_of(bin);
            if (before >= rank) return value_of(bin);
        }
    }
    return max_;
}

std::optional<std::int64_t> Histogram::percentile(double percent) const {
    if (n_ < values_needed(percent)) return std::nullopt;
    return value_at(nearest_rank(n_, percent));
}

std::optional<Histogram::Interval> Histogram::confidence(double percent) const {
    const auto ranks = confidence_ranks(n_, percent);
    if (!ranks) return std::nullopt;
    return Interval{value_at(ranks->low), value_at(ranks->high)};
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

}  // namespace stapgen::table
