// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "decode/group_keys.h"
#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "rows/results.h"

/// Packets dropped, by place and reason, and on which call paths.
namespace stapgen::kinds::drops {

std::unique_ptr<Kind> make(const Settings& settings, IntervalLog& log);
/// The rows that are written, of what was measured, with totals, advice, what is not shown.
void put_results(const Measured& measured, const Asked& asked, rows::Results& results);

/// What is known of a place, of the fields of a record.
struct Fields {
    std::optional<std::size_t> place, reason, stack, count;
    std::vector<decode::GroupKey> keys;
};

/// Drops by interval, place, reason and group, in bounded memory; further ones are of "other places".
class DropLog {
  public:
    explicit DropLog(IntervalLog& log);

    /// Into the open interval.
    void add(const decode::Record& record, const Fields& fields);

    /// What a reader must know of the places.
    [[nodiscard]] std::vector<Note> notes() const;
    [[nodiscard]] const CountedRows<rows::Drop>& rows() const { return rows_; }

  private:
    static constexpr std::size_t max_texts = 4 * CountedRows<rows::Drop>::max_rows;

    std::size_t thing_of(const decode::Record& record, const Fields& fields);

    CountedRows<rows::Drop> rows_;
    /// Things by the text of a place, that of the reason and those of groups, with tabs between; max_texts of them, and
    /// base::limits::row_key_bytes.
    TextMap<std::size_t> texts_;
    std::size_t texts_size_ = 0;                  ///< bytes
    std::map<std::size_t, std::string> refused_;  ///< places whose name no code has, by their thing
    std::set<std::size_t> hashed_;                ///< things whose address the kernel has hashed
    std::string key_;                             ///< kept for its memory
    struct Recent {
        std::string_view key;  ///< of texts_
        std::size_t thing = 0;
    };
    std::array<Recent, 256> recent_{};  ///< those that came up lately, by their places
};

}  // namespace stapgen::kinds::drops
