// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>

#include "decode/record.h"
#include "recording/facts.h"
#include "rows/kept.h"
#include "session/presentation.h"
#include "session/session.h"

namespace stapgen::session {

/// The records of a kept recording, once more: those of the moment at which the condition held, and those before it.
///
/// Of the moment are those from the begin of the condition's window (1 s where it has none) to as long after it, as far
/// as records were kept. The kernel looks at the end of an interval, so that what made the condition hold began
/// anywhere in the window, and goes on behind it: of what lasts as long as the window half of the moment is it, or
/// more. A second before that is of neither.
class KeptSides {
  public:
    /// Null: it is no kept recording.
    static std::unique_ptr<KeptSides> create(const recording::Kept& kept, const Presentation& presentation,
                                             std::int64_t resolution_ns);

    /// What a session of the whole has taken.
    void add(const decode::Line& line);
    void add(const decode::Record& record);
    /// Sets what differs; nothing where neither has records that can be compared.
    void compare(rows::Kept& kept) const;

  private:
    KeptSides(const recording::Kept& kept, const Presentation& presentation, std::int64_t resolution_ns);

    Presentation presentation_;
    std::int64_t before_ns_, after_ns_;  ///< of the moment
    std::unique_ptr<Session> before_, at_;
};

}  // namespace stapgen::session
