#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace stapgen::analyze {

/// Percentiles of a Histogram are off by at most this much of the value, for values up to
/// Histogram::largest_binned. Half a bin: 256 bins for each doubling.
inline constexpr double relative_error = 1.0 / 512;

/// The distribution of a whole-numbered quantity in bounded memory: exact n, minimum, maximum, mean and
/// standard deviation, and percentiles with a stated error. Values below 512 have a bin each, so their
/// percentiles are exact. Histograms of parts add up to exactly the histogram of the whole.
///
/// An empty one takes no heap memory; any other 9 kB for its bins while none of them holds more than 255
/// values, growing to eight times that.
/// Invariant: the bins' counts add up to n().
class Histogram {
  public:
    /// 2^41 - 1 ns, 36 minutes. Larger values count in n, mean and maximum; a percentile that falls among
    /// them is given as the maximum. Negative values likewise fall into one bin, given as the minimum.
    static constexpr std::int64_t largest_binned = (std::int64_t{1} << 41) - 1;

    Histogram();
    Histogram(const Histogram& other);
    Histogram(Histogram&& other) noexcept;
    Histogram& operator=(const Histogram& other);
    Histogram& operator=(Histogram&& other) noexcept;
    ~Histogram();

    void add(std::int64_t value);

    /// As if `other`'s values had been added here.
    Histogram& operator+=(const Histogram& other);

    [[nodiscard]] std::int64_t n() const { return n_; }
    /// Nothing when n is 0.
    [[nodiscard]] std::optional<std::int64_t> min() const;
    [[nodiscard]] std::optional<std::int64_t> max() const;
    [[nodiscard]] std::optional<double> mean() const;
    /// Of the sample (n - 1); nothing when n is below 2.
    [[nodiscard]] std::optional<double> stddev() const;

    /// The percentile, within relative_error and never outside [min, max]. Nothing when n is below
    /// values_needed(percent).
    [[nodiscard]] std::optional<std::int64_t> percentile(double percent) const;

    struct Interval {
        std::int64_t low = 0;
        std::int64_t high = 0;
    };
    /// The percentile's 95 % confidence interval, see confidence_ranks(). Nothing when n is too small.
    [[nodiscard]] std::optional<Interval> confidence(double percent) const;

    /// The value of a rank, 1 <= rank <= n, with the same error. Needs no minimum n.
    [[nodiscard]] std::int64_t value_at(std::int64_t rank) const;

  private:
    struct Bins;

    __extension__ using Wide = __int128;
    __extension__ using WideUnsigned = unsigned __int128;

    std::int64_t n_ = 0;
    std::int64_t min_ = 0;
    std::int64_t max_ = 0;
    Wide sum_ = 0;
    WideUnsigned squares_ = 0;       ///< of values below 2^47, exact
    long double large_squares_ = 0;  ///< of the others
    std::unique_ptr<Bins> bins_;
};

}  // namespace stapgen::analyze
