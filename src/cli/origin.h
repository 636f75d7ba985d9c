#pragma once

#include <string>
#include <vector>

#include "analyze/summary.h"
#include "cli/run_options.h"
#include "host/system.h"

namespace stapgen::cli {

/// argv of this process.
std::vector<std::string> own_command(const host::System& machine);

/// Of a measurement that is made here.
analyze::Origin origin_of(const host::System& machine, const MeasurePlan& plan);

}  // namespace stapgen::cli
