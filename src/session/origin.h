#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"
#include "host/system.h"
#include "session/plan.h"

namespace stapgen::session {

/// argv of this process.
std::vector<std::string> own_command(const host::System& machine);

/// Of a measurement that is made here.
analyze::Origin origin_of(const host::System& machine, const MeasurePlan& plan);

}  // namespace stapgen::session
