#pragma once

#include "analyze/summary.h"
#include "host/system.h"
#include "session/plan.h"

namespace stapgen::session {

/// Of a measurement that is made here.
analyze::Origin origin_of(const host::System& machine, const MeasurePlan& plan);

}  // namespace stapgen::session
