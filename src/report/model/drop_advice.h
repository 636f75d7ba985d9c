// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::report {

/// What is known of a drop by its place and reason: stapgen help drop-reasons prints it.
struct DropAdvice {
    std::string_view reason{};    ///< of a function NOT_SPECIFIED stands also for drops without a reason
    std::string_view text{};      ///< one line: what it means and where to look; empty: nothing known
    std::string_view function{};  ///< it is about this function only; empty: about the reason, wherever it is given
    bool benign = false;          ///< part of normal operation, no packet is lost by it
};

/// By the function without what the compiler appends (".cold", ".isra.0") and the reason's name; what is known of the
/// two together comes first. A reason without a name could be any: then nothing is known.
DropAdvice advice_of(const analyze::Drop& drop);

/// All that is known, by function and reason: for `stapgen help drop-reasons` and for tests.
std::span<const DropAdvice> known_drops();

/// Advice for drops that occurred.
struct GivenAdvice {
    DropAdvice advice;
    std::optional<std::string> reason;  ///< as the drops have it
    std::int64_t count = 0;             ///< of the drops that it is for
};
/// Each once, that for the most drops first.
std::vector<GivenAdvice> advice_for(std::span<const analyze::Drop> drops);
/// What it is for: "NO_SOCKET", "QUEUE_PURGE in sk_stream_kill_queues", "unix_stream_recvmsg".
std::string subject_of(const GivenAdvice& given);

/// What benign rows are marked with in tables, and what the mark means.
inline constexpr std::string_view benign_mark = "*";
inline constexpr std::string_view benign_legend = "*: part of normal operation, no packet is lost by it";

/// Drops as a report shows them.
struct ShownDrops {
    std::vector<analyze::Drop> rows;
    std::int64_t hidden = 0;  ///< the drops of the rows that were left out
    std::size_t hidden_rows = 0;
};
/// All rows, or with `hide_benign` those that are not benign.
ShownDrops shown_drops(std::span<const analyze::Drop> drops, bool hide_benign);
/// "total: 51 drops at 2 places and reasons".
std::string total_text(std::span<const analyze::Drop> totals);
/// "51 drops at 2 benign places not shown".
std::string hidden_text(const ShownDrops& shown);

}  // namespace stapgen::report
