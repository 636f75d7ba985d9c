// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schema/bins.h"

namespace stapgen::table {

namespace bins = schema::bins;

/// Percentiles of a Histogram are off by at most this much of the value, for values up to bins::largest. Half a bin.
inline constexpr double relative_error = 1.0 / (2 * bins::per_doubling);

/// A percentile as the user typed it: reports use `text` as the key, so "99.90" stays "99.90".
struct Percentile {
    std::string text;
    double percent = 0;  ///< 0 < percent < 100
};

/// "50,90,99,99.9", in the order given. Each above 0 and below 100, none twice.
base::Result<std::vector<Percentile>> parse_percentiles(std::string_view text);

/// 50, 90, 99 and 99.9: what is shown where the user does not say.
std::vector<Percentile> default_percentiles();

/// Ranks, counted from 1, of a sorted sample.
struct Ranks {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

/// The order statistics that hold the true percentile between them with at least 95 % confidence, at most
/// 2.5 % on either side, whatever the distribution: the binomial interval (David and Nagaraja, Order
/// Statistics, 7.1). Nothing where `n` is too small for one. The values must be independent of each other for
/// the 95 % to hold; latencies of neighbouring packets often are not, so take it as a lower bound of doubt.
std::optional<Ranks> confidence_ranks(std::int64_t n, double percent);

/// The smallest n for which confidence_ranks() exists: 6 for the median, 36 for 90, 368 for 99, 3688
/// for 99.9. With fewer values a percentile is not stated.
std::int64_t values_needed(double percent);

/// The rank of the percentile itself: the smallest one with at least `percent` of all values at or below it.
std::int64_t nearest_rank(std::int64_t n, double percent);

/// The distribution of a whole-numbered quantity in bounded memory: exact n, minimum, maximum, sum, mean and standard
/// deviation, and percentiles with a stated error (relative_error; values below 512 are exact). Histograms of parts add
/// up to exactly the histogram of the whole.
///
/// An empty one takes no heap memory; any other half a kB for each doubling that has values. Boost.Histogram was here
/// before: its smallest storage takes 9 kB for one value, and add() took four times as long. Invariant: the bins'
/// counts, below_ and above_ add up to n().
class Histogram {
  public:
    /// Larger values count in n, mean and maximum; a percentile that falls among them is given as the maximum. Negative
    /// values likewise fall into one bin, given as the minimum.
    static constexpr std::int64_t largest_binned = bins::largest;
    /// Limit of values, a million a second for nine years: more are not added.
    static constexpr std::int64_t most = std::int64_t{1} << 48;

    Histogram() = default;
    Histogram(const Histogram& other) { *this += other; }
    Histogram(Histogram&& other) noexcept = default;
    Histogram& operator=(const Histogram& other);
    Histogram& operator=(Histogram&& other) noexcept = default;
    ~Histogram() = default;

    /// Inlined by force: what is worked out of a value that goes into two histograms is the same for both.
    [[gnu::always_inline]] void add(std::int64_t value) {
        ++n_;
        if (value < min_) min_ = value;
        if (value > max_) max_ = value;
        sum_ += value;
        const auto number = static_cast<std::uint64_t>(value);
        if (number > static_cast<std::uint64_t>(largest_binned)) [[unlikely]]
            return add_outside(value);
        squares_ += static_cast<WideUnsigned>(number) * number;
        const auto bin = static_cast<unsigned>(bins::index_of(value));
        auto& chunk = chunks_[bin / bins::per_doubling];
        if (!chunk) [[unlikely]]
            make(chunk);
        if (++(*chunk)[bin % bins::per_doubling] == 0) [[unlikely]]
            note_overflow(bin);
    }

    /// As if `value` had been added `count` times. False where that would be too many: nothing is added.
    bool add(std::int64_t value, std::int64_t count);

    /// What is known of values that were put into bins elsewhere.
    struct Totals {
        std::int64_t n = 0, sum = 0, min = 0, max = 0;
    };
    /// For a histogram made of the middles of bins: n, minimum, maximum and sum become what they are in truth, and so
    /// the mean; `totals.n` is no less than n(), and what is more than that are values outside the bins. The standard
    /// deviation is that of the middles, and of the mean of those outside, all moved alike so that their mean is the
    /// true one: off by half a bin's width at most where nothing is outside.
    void set_totals(const Totals& totals);

    /// All values are multiples of this: so are those that value_at() and percentile() give.
    void set_resolution(std::int64_t resolution) { resolution_ = resolution; }

    /// As if `other`'s values had been added here.
    Histogram& operator+=(const Histogram& other);

    /// Negative, 0 or positive: an order without a meaning, in which only equal ones are the same.
    [[nodiscard]] int compare(const Histogram& other) const;

    [[nodiscard]] std::int64_t n() const { return n_; }
    /// Nothing when n is 0.
    [[nodiscard]] std::optional<std::int64_t> min() const;
    [[nodiscard]] std::optional<std::int64_t> max() const;
    [[nodiscard]] std::optional<double> mean() const;
    /// Of the sample (n - 1); nothing when n is below 2.
    [[nodiscard]] std::optional<double> stddev() const;
    /// Of all values; 0 when n is 0.
    [[nodiscard]] double sum() const { return static_cast<double>(sum_); }
    /// The same to the last digit, as far as 64 bits go.
    [[nodiscard]] std::int64_t whole_sum() const;

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

    /// Calls for each bin that has values with its number and their count, in ascending order; values outside the bins
    /// are not among them.
    void for_each_bin(auto call) const {
        for (std::size_t i = 0; i < chunks_.size(); ++i) {
            if (!chunks_[i]) continue;
            for (std::size_t j = 0; j < chunks_[i]->size(); ++j) {
                const auto bin = static_cast<int>(i * bins::per_doubling + j);
                const auto count = (*chunks_[i])[j] + (overflows_.empty() ? 0 : overflow_of(bin));
                if (count != 0) call(bin, count);
            }
        }
    }
    [[nodiscard]] std::int64_t below() const { return below_; }  ///< how many values are negative
    [[nodiscard]] std::int64_t above() const { return above_; }  ///< how many are above largest_binned

    /// What its bins take of the heap.
    [[nodiscard]] std::size_t bytes() const { return made_chunks_ * sizeof(Chunk); }

  private:
    /// The lowest bits of a bin's count. Few of them, for more histograms are in the cache then.
    using Low = std::uint16_t;
    using Chunk = std::array<Low, bins::per_doubling>;
    __extension__ using Wide = __int128;
    __extension__ using WideUnsigned = unsigned __int128;

    void make(std::unique_ptr<Chunk>& chunk);
    void note_overflow(unsigned bin);
    [[nodiscard]] std::int64_t overflow_of(int bin) const;
    void add_outside(std::int64_t value);
    void add_to_bin(int bin, std::int64_t count);
    void add_chunk(std::size_t place, const Chunk& from);
    void add_squares(std::int64_t value, std::int64_t count);
    [[nodiscard]] long double squared_deviations() const;
    [[nodiscard]] std::int64_t value_of(int bin) const;

    std::int64_t resolution_ = 1;
    std::int64_t n_ = 0;
    std::int64_t min_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t max_ = std::numeric_limits<std::int64_t>::min();
    Wide sum_ = 0;
    // Whole numbers: sums of them are the same in any order.
    WideUnsigned squares_ = 0;         ///< of values below 2^47, exact (modulo 2^128, see stddev())
    WideUnsigned coarse_squares_ = 0;  ///< of the others, in units of 2^48
    std::array<std::unique_ptr<Chunk>, bins::count / bins::per_doubling> chunks_;
    std::size_t made_chunks_ = 0;
    std::map<int, std::int64_t> overflows_;  ///< by bin: how often its count went round
    std::int64_t below_ = 0;
    std::int64_t above_ = 0;
};

}  // namespace stapgen::table
