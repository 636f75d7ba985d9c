#pragma once

#include "analyze/summary.h"
#include "launch/messages.h"

namespace stapgen::cli {

/// What SystemTap says was lost, as a report has it.
inline analyze::Transport transport_of(const launch::Losses& losses) {
    return {losses.skipped_probes + losses.missed_probes, losses.errors,
            losses.transport_failures + losses.lost_messages};
}

}  // namespace stapgen::cli
