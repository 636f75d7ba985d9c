#pragma once

#include <cstdint>
#include <optional>

#include "analyze/summary.h"
#include "host/system.h"
#include "launch/messages.h"

namespace stapgen::session {

/// What SystemTap says was lost, as a report has it.
analyze::Transport transport_of(const launch::Losses& losses);

/// The buffer per CPU (-s) that would have held what the summary says was lost on its way; 0 if that is not known, or
/// more than this machine has. `asked_mb`: the -s of this run. `bytes`: of all lines that came.
std::int64_t enough_buffer_mb(const host::System& machine, const launch::Losses& losses,
                              std::optional<std::int64_t> asked_mb, const analyze::Summary& summary,
                              std::int64_t bytes);

}  // namespace stapgen::session
