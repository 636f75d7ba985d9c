#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::analyze {

/// The intervals of a measurement and the drops in each, by place and reason. Memory is bounded: where there are too
/// many rows or intervals, each two neighbours become one.
class Intervals {
  public:
    static constexpr std::size_t most_intervals = 4096;
    static constexpr std::size_t most_rows = 32'768;
    /// So many pairs of place and reason are told apart; further ones are drops at "other places".
    static constexpr std::size_t most_kinds = 16'384;

    /// Drops of the open interval. `place` as decode::parse_place() reads it; `reason` is its number, -1: none given.
    void add(std::string_view place, std::int64_t reason, std::string_view reason_name, std::int64_t count);

    /// Ends the open interval. Returns its rows, the largest first, as those of interval 0.
    std::vector<Drop> close(const Interval& interval);

    [[nodiscard]] const std::vector<Interval>& closed() const { return intervals_; }
    /// Of all closed intervals, by interval, then by count, the largest first.
    [[nodiscard]] std::vector<Drop> rows() const;
    /// Of the open one likewise.
    [[nodiscard]] std::vector<Drop> open_rows() const;

  private:
    struct Row {
        std::size_t interval;
        std::uint32_t kind;
        std::int64_t count;
    };
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };

    std::uint32_t kind_of(std::string_view place, std::int64_t reason, std::string_view reason_name);
    void count(std::uint32_t kind, std::int64_t count);
    /// What was counted since the last call, in order.
    std::vector<Row> take_counted(std::size_t interval);
    void sort(std::vector<Row>& rows) const;
    [[nodiscard]] Drop drop_of(const Row& row) const;
    void join_neighbours();

    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> kinds_;
    std::string key_;
    std::vector<Drop> kind_drops_;      ///< by kind: a drop without count and interval
    std::vector<std::int64_t> counts_;  ///< by kind, of the open interval
    std::vector<std::uint32_t> counted_;
    std::vector<Row> rows_;
    std::vector<Interval> intervals_;
};

}  // namespace stapgen::analyze
