#include "analyze/histogram.h"

#include <algorithm>
#include <bit>
#include <boost/histogram.hpp>
#include <cmath>

#include "analyze/percentile.h"

namespace stapgen::analyze {

namespace {

/// An axis for Boost.Histogram whose bins are 256 to each doubling and one to each number below 512. Chosen
/// over its regular<log> axis because borders are whole numbers and no logarithm is taken for each value.
class LogLinearAxis {
  public:
    static constexpr int sub_bins = 256;
    static constexpr int bins = 34 * sub_bins;

    static constexpr auto options() {
        return boost::histogram::axis::option::underflow | boost::histogram::axis::option::overflow;
    }

    [[nodiscard]] int size() const noexcept { return bins; }

    [[nodiscard]] int index(std::int64_t value) const noexcept {
        if (value < 0) return -1;
        if (value > Histogram::largest_binned) return bins;
        const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 9);
        return shift * sub_bins + static_cast<int>(value >> shift);
    }

    /// The lowest number of a bin.
    [[nodiscard]] std::int64_t value(int index) const noexcept {
        const int shift = std::max(0, index / sub_bins - 1);
        return std::int64_t{index - shift * sub_bins} << shift;
    }

    /// The middle of a bin: off by at most half its width, 1/512 of its lowest number.
    [[nodiscard]] std::int64_t middle(int index) const noexcept { return (value(index) + value(index + 1) - 1) / 2; }

    bool operator==(const LogLinearAxis&) const { return true; }
};

constexpr std::int64_t square_limit = std::int64_t{1} << 47;

}  // namespace

struct Histogram::Bins {
    boost::histogram::histogram<std::tuple<LogLinearAxis>> counts = boost::histogram::make_histogram(LogLinearAxis{});
};

Histogram::Histogram() = default;
Histogram::Histogram(Histogram&& other) noexcept = default;
Histogram& Histogram::operator=(Histogram&& other) noexcept = default;
Histogram::~Histogram() = default;

Histogram::Histogram(const Histogram& other)
    : n_(other.n_),
      min_(other.min_),
      max_(other.max_),
      sum_(other.sum_),
      squares_(other.squares_),
      large_squares_(other.large_squares_),
      bins_(other.bins_ ? std::make_unique<Bins>(*other.bins_) : nullptr) {}

Histogram& Histogram::operator=(const Histogram& other) {
    if (this != &other) *this = Histogram(other);
    return *this;
}

void Histogram::add(std::int64_t value) {
    if (!bins_) {
        bins_ = std::make_unique<Bins>();
        min_ = max_ = value;
    }
    bins_->counts(value);
    ++n_;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    sum_ += value;
    if (value < square_limit && value > -square_limit) {
        squares_ += static_cast<WideUnsigned>(Wide{value} * value);
    } else {
        large_squares_ += static_cast<long double>(value) * static_cast<long double>(value);
    }
}

Histogram& Histogram::operator+=(const Histogram& other) {
    if (other.n_ == 0) return *this;
    if (n_ == 0) return *this = other;
    if (this == &other) return *this += Histogram(other);
    bins_->counts += other.bins_->counts;
    n_ += other.n_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
    squares_ += other.squares_;
    large_squares_ += other.large_squares_;
    return *this;
}

std::optional<std::int64_t> Histogram::min() const {
    return n_ > 0 ? std::optional(min_) : std::nullopt;
}

std::optional<std::int64_t> Histogram::max() const {
    return n_ > 0 ? std::optional(max_) : std::nullopt;
}

std::optional<double> Histogram::mean() const {
    if (n_ == 0) return std::nullopt;
    return static_cast<double>(static_cast<long double>(sum_) / static_cast<long double>(n_));
}

std::optional<double> Histogram::stddev() const {
    if (n_ < 2) return std::nullopt;
    const auto n = static_cast<long double>(n_);
    if (large_squares_ != 0) {
        const auto sum = static_cast<long double>(sum_);
        const auto squares = static_cast<long double>(squares_) + large_squares_;
        const long double variance = (squares - sum * (sum / n)) / (n - 1);
        return static_cast<double>(std::sqrt(std::max(variance, 0.0L)));
    }
    // The squares of the distances from the whole-numbered mean, exact: what overflows on the way cancels
    // out.
    const auto center = static_cast<WideUnsigned>(sum_ / n_);
    const auto squares =
        squares_ - 2 * center * static_cast<WideUnsigned>(sum_) + static_cast<std::uint64_t>(n_) * center * center;
    const auto rest = static_cast<long double>(sum_ % n_);
    return static_cast<double>(std::sqrt((static_cast<long double>(squares) - rest * (rest / n)) / (n - 1)));
}

std::int64_t Histogram::value_at(std::int64_t rank) const {
    if (rank <= 1) return min_;
    if (rank >= n_) return max_;
    const LogLinearAxis axis;
    const int last = axis.index(max_);
    double before = 0;
    for (int bin = axis.index(min_); bin <= last; ++bin) {
        before += static_cast<double>(bins_->counts.at(bin));
        if (before < static_cast<double>(rank)) continue;
        if (bin < 0) return min_;
        if (bin == axis.size()) return max_;
        return std::clamp(axis.middle(bin), min_, max_);
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

}  // namespace stapgen::analyze
