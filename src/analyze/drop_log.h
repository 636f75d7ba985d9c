#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/interval_items.h"
#include "analyze/interval_log.h"
#include "analyze/summary.h"
#include "analyze/text_hash.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// Drops by interval, place and reason, in bounded memory; their counts are in an IntervalLog.
class DropLog {
  public:
    /// So many pairs of place and reason are told apart; further ones are drops at "other places".
    static constexpr std::size_t max_kinds = 16384;

    explicit DropLog(IntervalLog& log) : log_(log), kinds_(log) {}
    DropLog(const DropLog&) = delete;
    DropLog& operator=(const DropLog&) = delete;

    /// Into the open interval. `reason` may be null.
    void add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type, std::int64_t count);

    /// Of the open interval, the largest count first; `interval` counts on from those that were closed.
    [[nodiscard]] std::vector<Drop> open_rows() const;
    /// Of the intervals that were closed, in their order, of each the largest count first.
    [[nodiscard]] std::vector<Drop> rows() const;
    /// What a reader must know of the places.
    [[nodiscard]] std::vector<Note> notes() const;

  private:
    static constexpr std::size_t max_texts = 4 * max_kinds;

    /// A kind that came up lately, by its key in texts_.
    struct Recent {
        std::string_view key;
        std::size_t kind = 0;
    };

    std::size_t other();
    std::size_t kind_of(std::string_view place, const decode::Value* reason, decode::FieldType reason_type);

    IntervalLog& log_;
    IntervalItems<Drop> kinds_;  ///< place and reason
    using Kinds = std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>>;
    Kinds texts_;  ///< by the text of a place, a tab, that of the reason; max_texts of them
    Kinds alike_;  ///< by written_alike()
    std::optional<std::size_t> other_;
    std::size_t refused_ = 0;  ///< kinds whose name no code has
    std::size_t hashed_ = 0;   ///< kinds whose address the kernel has hashed
    std::string first_refused_;
    std::string key_;                   ///< kept for its memory
    std::array<Recent, 256> recent_{};  ///< by recent_place() of the place
};

}  // namespace stapgen::analyze
