#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/interval_items.h"
#include "analyze/interval_log.h"
#include "analyze/summary.h"
#include "analyze/text_map.h"
#include "decode/record.h"

namespace stapgen::analyze {

/// Drops by interval, place and reason, in bounded memory; further pairs of place and reason are "other places". The
/// counts are in an IntervalLog.
class DropLog {
  public:
    explicit DropLog(IntervalLog& log) : log_(log) {}
    DropLog(const DropLog&) = delete;
    DropLog& operator=(const DropLog&) = delete;

    /// Into the open interval. `reason` may be null.
    void add(std::string_view place, const decode::Value* reason, decode::FieldType reason_type, std::int64_t count);

    [[nodiscard]] const IntervalItems<Drop>& items() const { return items_; }
    /// What a reader must know of the places.
    [[nodiscard]] std::vector<Note> notes() const;

  private:
    static constexpr std::size_t max_texts = 4 * IntervalItems<Drop>::max_items;

    /// A kind that came up lately, by its key in texts_.
    struct Recent {
        std::string_view key;
        std::size_t kind = 0;
    };

    static Drop other_places();
    std::size_t kind_of(std::string_view place, const decode::Value* reason, decode::FieldType reason_type);

    IntervalLog& log_;
    IntervalItems<Drop> items_{log_, other_places()};  ///< by written_alike()
    TextMap<std::size_t> texts_;  ///< kinds by the text of a place, a tab, that of the reason; max_texts of them
    std::size_t refused_ = 0;     ///< kinds whose name no code has
    std::size_t hashed_ = 0;      ///< kinds whose address the kernel has hashed
    std::string first_refused_;
    std::string key_;                   ///< kept for its memory
    std::array<Recent, 256> recent_{};  ///< by recent_place() of the place
};

}  // namespace stapgen::analyze
