// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "table/histogram.h"
#include "table/keys.h"

namespace stapgen::table {

/// One of the slowest records.
struct SlowRecord {
    std::int64_t total_ns = 0;
    std::optional<std::int64_t> time_ns;              ///< of its end, on the clock of the Series
    std::vector<std::optional<std::int64_t>> stages;  ///< as Breakdown::stages; nothing where it was not seen
    Group of;                                         ///< the record's other fields: whose it was

    auto operator<=>(const SlowRecord&) const = default;
};

/// What the totals of records are made of, stage by stage and with the parts of stages, for the records of one
/// direction ("rx", "tx"). The total is the stage of that name where the recipe has one, else the sum of the stages
/// that were seen. Records without any stage do not count. Breakdowns of parts add up to exactly that of the whole.
class Breakdown {
  public:
    Breakdown(std::string direction, std::vector<std::string> stages, std::size_t keep_slowest);

    /// `stages` in ns, negative where not seen. Returns whether it may be among the slowest so far, and must be given
    /// to keep().
    bool add(std::int64_t total_ns, std::span<const std::int64_t> stages, std::optional<std::int64_t> time_ns = {}) {
        total_.add(total_ns);
        auto* sums = row_of(total_ns);
        ++*sums;
        for (const auto stage : stages)
            *++sums += stage > 0 ? static_cast<std::uint64_t>(stage) : 0;
        return is_slow(total_ns, time_ns);
    }
    void keep(SlowRecord record);

    /// `n` records whose totals are about `total_ns`, and the sums of their stages.
    void add(std::int64_t total_ns, std::int64_t n, std::span<const std::int64_t> sums_ns);
    /// Whether a record with that total and time may be among the slowest so far. Of equal totals the earlier is kept.
    [[nodiscard]] bool is_slow(std::int64_t total_ns, std::optional<std::int64_t> time_ns) const {
        if (slowest_.size() < keep_slowest_) return true;
        if (keep_slowest_ == 0) return false;
        const auto& fastest = slowest_.front();
        return total_ns > fastest.total_ns || (total_ns == fastest.total_ns && time_ns <= fastest.time_ns);
    }
    /// Whether keep() was given exactly that one, and it is among the slowest still.
    [[nodiscard]] bool keeps(const SlowRecord& record) const;

    Breakdown& operator+=(const Breakdown& other);

    /// Adds this much to the times of the slowest: from one clock to another.
    void shift(std::int64_t by_ns);

    /// Puts names instead of what the slowest have in their fields: `name` takes a Group.
    void name(const std::function<void(Group& group)>& name);

    /// Of the same direction and stages: the two can be added.
    [[nodiscard]] bool is_like(const Breakdown& other) const { return is_of(other.direction_, other.stages_); }
    [[nodiscard]] bool is_of(std::string_view direction, const std::vector<std::string>& stages) const {
        return direction_ == direction && stages_ == stages;
    }

    [[nodiscard]] const std::string& direction() const { return direction_; }  ///< "" where there is only one
    [[nodiscard]] const std::vector<std::string>& stages() const { return stages_; }
    [[nodiscard]] const Histogram& total() const { return total_; }
    /// All time of a stage, by its place in stages().
    [[nodiscard]] double sum_ns(std::size_t stage) const;
    /// The largest first; of equal ones the earlier first, then by their stages and fields.
    [[nodiscard]] std::vector<SlowRecord> slowest() const;

    /// What the slowest have in common. `threshold_ns`: those above it are "slow", the others "rest".
    struct Tail {
        struct Share {
            std::string stage;
            double slow_mean_ns = 0, rest_mean_ns = 0;  ///< over all records, not seen counts as 0
            double slow = 0, rest = 0;                  ///< its part of all the time of these, 0 to 1
            double of_excess = 0;  ///< its part of what the slow take longer than the rest; may be negative
        };
        double percent = 0;
        std::int64_t threshold_ns = 0;
        std::int64_t n_slow = 0, n_rest = 0;
        double slow_mean_ns = 0, rest_mean_ns = 0;  ///< of all stages together, whose parts are in them
        std::vector<Share> shares;                  ///< as stages()
    };
    /// The records above that percentile of the total, as near as the histogram's bins allow. Where it lies within many
    /// equal ones, these, too: then they are more. Nothing where n is too small for the percentile, or more than half
    /// of all would be slow.
    [[nodiscard]] std::optional<Tail> tail(double percent) const;
    /// The bin that the slow ones begin with; nothing where there is no tail.
    [[nodiscard]] std::optional<int> first_slow(double percent) const;

    /// n and the sums of the stages of the records from a bin on, and of the others.
    struct Halves {
        std::int64_t n_slow = 0, n_rest = 0;
        std::vector<double> slow, rest;  ///< as stages()
    };
    [[nodiscard]] Halves divided_at(int first_slow) const;

  private:
    /// n and the sums of the stages of a total's bin.
    [[gnu::always_inline]] std::uint64_t* row_of(std::int64_t total_ns) {
        const auto bin = static_cast<std::size_t>(bin_of(total_ns));
        auto& rows = sums_[bin / schema::bins::per_doubling];
        if (rows.empty()) [[unlikely]]
            make_rows(rows);
        return &rows[bin % schema::bins::per_doubling * width()];
    }
    using Rows = std::vector<std::uint64_t>;
    void make_rows(Rows& rows) const;
    /// Null: nothing is in that bin.
    [[nodiscard]] const std::uint64_t* row_at(int bin) const {
        const auto& rows = sums_[static_cast<std::size_t>(bin / schema::bins::per_doubling)];
        return rows.empty() ? nullptr : &rows[static_cast<std::size_t>(bin % schema::bins::per_doubling) * width()];
    }
    static int bin_of(std::int64_t total_ns) {
        return total_ns > schema::bins::largest ? schema::bins::count
                                                : schema::bins::index_of(std::max<std::int64_t>(total_ns, 0));
    }
    [[nodiscard]] std::size_t width() const { return stages_.size() + 1; }

    std::string direction_;
    std::vector<std::string> stages_;
    std::size_t keep_slowest_;
    Histogram total_;
    /// By bin of the total, one more for what is above the bins: n, then each stage. Those of a doubling are made when
    /// the first total is in it.
    std::array<Rows, schema::bins::count / schema::bins::per_doubling + 1> sums_;
    /// A heap, the fastest of them first. Which records are in it does not depend on the order in which they came.
    std::vector<SlowRecord> slowest_;
};

/// By direction.
void sort_breakdowns(std::vector<Breakdown>& breakdowns);

}  // namespace stapgen::table
