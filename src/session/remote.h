// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/analyzer.h"
#include "base/result.h"

namespace stapgen::session {

/// How far a measurement is that another stapgen has started, here or from another machine, a line on stderr each
/// second:
///
///     @stapgen ready
///     @stapgen PACKETS LOST [STAGE P99_NS]
///     @stapgen kept EPOCH_NS FILE
///     @stapgen held NUMBER VALUE
///
/// "ready" before the module is loaded, which waits for a line on stdin. PACKETS and LOST are packets so far, from when
/// the probes answer on; the stage is the one with the largest p99. A recording that was kept (--keep) is said once.
/// Where what is kept comes within the recording (--keep-in -) it is not the side that measures that decides: it says
/// "held" when a condition holds, and keeps at a line on stdin, "keep MOMENT NUMBER [HOST]". The number is that of the
/// condition, from 1 on in the order of --when; 0: SIGUSR1.
struct RemoteStatus {
    bool is_measuring = false;  ///< else it is ready
    std::int64_t reported = 0, lost = 0;
    std::string stage;                   ///< empty: no sample is large enough
    std::optional<std::int64_t> p99_ns;  ///< likewise
};

/// The status of all that was measured so far.
RemoteStatus status_of(const kinds::Measured& measured);
std::string status_line(const RemoteStatus& status);
/// Nothing if it is another line.
std::optional<RemoteStatus> parse_status(std::string_view line);

/// A recording that was kept there.
struct KeptRecording {
    std::int64_t at_epoch_ns = 0;  ///< of the moment that it is about
    std::string file;
};
std::string kept_line(const KeptRecording& kept);
/// Nothing if it is another line, or the name is longer than a path or cannot be printed.
std::optional<KeptRecording> parse_kept(std::string_view line);

/// A condition that holds there.
struct HeldCondition {
    std::size_t number = 0;  ///< 0: a signal asked for it
    std::int64_t value = 0;
};
std::string held_line(const HeldCondition& held);
/// Nothing if it is another line. Whether there is such a condition is not looked at.
std::optional<HeldCondition> parse_held(std::string_view line);

/// That the seconds before are to be kept.
struct KeepOrder {
    std::int64_t moment = 0;  ///< recording::Kept::moment
    std::size_t number = 0;   ///< as of HeldCondition
    std::string host;         ///< where it held; empty: where the order goes, or a user's signal
};
/// With its '\n'.
std::string order_line(const KeepOrder& order);

/// Orders as their bytes come. Lines that are none are passed over.
class OrderReader {
  public:
    /// `take` may be empty.
    void add(std::string_view bytes, const std::function<void(const KeepOrder& order)>& take);

  private:
    std::string line_;  ///< its end has not come
    bool is_too_long_ = false;
};

/// The end of what another process writes on stderr, where the reason is among the last lines; it may go on for months.
class Said {
  public:
    void add(std::string_view line);
    void clear() { text_.clear(); }
    /// Whole lines, some KiB.
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    std::string text_;
};

/// Why a measurement failed, from its stderr: the last line that stapgen begins with its name, which is its error, else
/// the last line.
std::string reason_of(std::string_view said);
std::string last_line_of(std::string_view said);

/// The side of it that measures. stdin says when to begin and when to end.
class RemoteControl {
  public:
    /// Says "ready" and waits for a line. Fails where stdin ends before it.
    static base::Result<void> wait_for_go();

    /// Several times a second: says how far it is, once a second. Whether stdin has ended.
    bool tick(const analyze::Analyzer* analyzer, const std::function<void(const KeepOrder& order)>& keep);

  private:
    OrderReader orders_;
    std::chrono::steady_clock::time_point said_{};
};

}  // namespace stapgen::session
