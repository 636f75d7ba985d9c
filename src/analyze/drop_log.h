#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/summary.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// Drops by interval, place and reason, in bounded memory: when there would be more than `most_rows` rows or
/// `most_intervals`, neighbouring intervals become one, and later ones are that long, too.
class DropLog {
  public:
    static constexpr std::size_t most_rows = 16384;
    static constexpr std::size_t most_intervals = 4096;
    /// So many pairs of place and reason are told apart; further ones are drops at "other places".
    static constexpr std::size_t most_kinds = 16384;

    DropLog() = default;
    DropLog(const DropLog&) = delete;
    DropLog& operator=(const DropLog&) = delete;

    /// Into the open interval. `reason` may be null.
    void add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type, std::int64_t count);

    /// Ends the open interval and opens the next.
    void close(const Interval& interval);

    /// Of the open interval, the largest count first; `interval` counts on from intervals().
    [[nodiscard]] std::vector<Drop> open_rows() const;
    /// Of the intervals that were closed, in their order, of each the largest count first.
    [[nodiscard]] std::vector<Drop> rows() const;
    [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }

  private:
    struct Kind {
        Drop drop;              ///< place and reason
        std::int64_t open = 0;  ///< its count in the open interval
        bool is_open = false;
        std::size_t row = 0;  ///< in rows_, if that is one of the last interval
    };
    struct Row {
        std::size_t interval = 0;
        std::size_t kind = 0;
        std::int64_t count = 0;
    };
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };

    /// A kind that came up lately, by its key in places_: the text of the place, a tab, that of the reason.
    struct Recent {
        std::string_view key;
        std::size_t kind = 0;
    };

    std::size_t kind_of(std::string_view place, const decode::Value* reason, decode::FieldType reason_type);
    /// In order.
    [[nodiscard]] std::vector<Drop> drops_of(std::vector<Row> rows) const;
    void join_neighbours();

    std::vector<Kind> kinds_;
    std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> places_;  ///< of kinds_, by text
    std::string key_;                                                                 ///< kept for its memory
    std::array<Recent, 256> recent_{};  ///< by recent_place() of the place
    std::vector<std::size_t> open_;     ///< kinds of the open interval
    std::vector<Row> rows_;
    std::vector<Interval> intervals_;
    std::size_t closed_ = 0;         ///< how often close() was called
    std::size_t joined_ = 1;         ///< so many of them are one of intervals_
    std::size_t last_interval_ = 0;  ///< where its rows begin
};

}  // namespace stapgen::analyze
