// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "decode/record.h"

namespace stapgen::session {

/// The last lines of a script that prints each record, in bounded memory: for --keep where the module has no ring.
/// They are held by interval, from one line of counts to the next. Counts of what is given out begin at 0 with it.
/// Times are when lines came, in ns of CLOCK_MONOTONIC, as the wall clock may be set.
class KeptLines {
  public:
    using Give = std::function<void(std::string_view line)>;

    KeptLines(std::chrono::nanoseconds before, std::uint64_t most_bytes) : before_(before), most_bytes_(most_bytes) {}

    /// The first interval begins.
    void begin(std::int64_t now_ns) { begin_ns_ = now_ns; }
    /// Any line behind `ready`.
    void add(std::string_view text, const decode::Line& line, std::int64_t now_ns);

    /// When the oldest interval began.
    [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }
    /// From when on all lines are there of the time before a moment.
    [[nodiscard]] std::int64_t since_ns(std::int64_t at_ns) const;
    /// Gives out all, and remembers the counts that it begins with. `shift_ns`: by so much its clock is ahead of the
    /// lines'.
    void give_out(std::int64_t shift_ns, const Give& give);
    /// A line of counts, as it is in what was given out: "tick" or "end", and what is left of its counts.
    [[nodiscard]] std::string counts_line(std::string_view word, std::int64_t epoch_ns,
                                          std::span<const decode::Count> counts) const;

  private:
    using Counts = std::map<std::string, std::int64_t, std::less<>>;
    struct Interval {
        std::int64_t end_ns = 0, end_epoch_ns = 0;
        Counts after{};             ///< of the script, since its start, where its lines end
        std::string text{};         ///< its lines, each with its end
        std::int64_t not_held = 0;  ///< of its records, as the account counts them
    };

    void close(const decode::Tick& tick, std::int64_t now_ns);
    void drop_oldest();

    std::chrono::nanoseconds before_;
    std::uint64_t most_bytes_, bytes_ = 0;
    std::int64_t begin_ns_ = 0;  ///< of the oldest interval
    Counts before_it_;           ///< of the script, where that begins
    std::deque<Interval> intervals_;
    Interval current_;
    std::int64_t dropped_until_ns_ = 0;  ///< intervals until then went for lack of memory
    Counts given_from_;
    std::int64_t shift_ns_ = 0;
    std::int64_t not_held_ = 0;  ///< of those that were given out
};

}  // namespace stapgen::session
