// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"
#include "decode/record.h"
#include "filter/filter.h"

namespace stapgen::session {

/// ns since the start of the measurement.
struct Offset {
    std::int64_t ns = 0;
};
/// Local time: s since midnight.
struct TimeOfDay {
    std::int64_t s = 0;
};
/// ns since 1970.
struct Epoch {
    std::int64_t ns = 0;
};
using Moment = std::variant<Offset, TimeOfDay, Epoch>;

/// "90s" or "5m" after the start, "14:05" or "14:05:10", "2026-11-25 14:05:10"; the last two are local times. Errors:
/// bad_input.
base::Result<Moment> parse_moment(std::string_view text);

/// Which records of a recording are wanted.
struct Selection {
    std::optional<std::int64_t> port{};        ///< of either end
    std::optional<filter::Network> address{};  ///< likewise
    std::optional<Moment> since{}, until{};    ///< the first is included, the second is not
    std::optional<std::string> comm{};         ///< of the record's thread
    std::optional<std::int64_t> pid{}, tid{};  ///< likewise
    std::string options{};                     ///< as typed, for the note: "--port 443"

    [[nodiscard]] bool is_all() const { return !port && !address && !since && !until && !comm && !pid && !tid; }
};

/// Applies a selection to the records of one recording. A record that has no time has that of the last tick before it:
/// an interval belongs to its beginning.
class Selector {
  public:
    explicit Selector(Selection selection) : selection_(std::move(selection)) {}
    [[nodiscard]] const Selection& selection() const { return selection_; }

    /// Error (bad_input): records with this header cannot be asked for that.
    [[nodiscard]] base::Result<void> check(const decode::Header& header) const;
    void observe(const decode::Ready& ready);
    void observe(const decode::Tick& tick);
    [[nodiscard]] bool takes(const decode::Record& record) const;
    /// Times were asked for, and the text had none.
    [[nodiscard]] bool lacks_times() const;

    /// ns since 1970, where they are known.
    [[nodiscard]] std::optional<std::int64_t> since() const { return since_; }
    [[nodiscard]] std::optional<std::int64_t> until() const { return until_; }

  private:
    void begin(std::int64_t epoch_ns);
    [[nodiscard]] bool takes_time(const decode::Record& record) const;
    [[nodiscard]] bool takes_thread(const decode::Record& record) const;

    Selection selection_;
    std::optional<decode::Ready> ready_;
    std::optional<std::int64_t> now_;            ///< the last tick, or the start
    std::optional<std::int64_t> since_, until_;  ///< once the start is known
};

}  // namespace stapgen::session
