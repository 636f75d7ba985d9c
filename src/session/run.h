// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "host/counter_lines.h"
#include "host/host.h"
#include "host/system.h"
#include "launch/run.h"
#include "recipe/catalog.h"
#include "session/keeper.h"
#include "session/plan.h"
#include "session/recorder.h"

namespace stapgen::session {

launch::LoadJob load_job_of(const host::Target& target, const std::filesystem::path& module, const MeasurePlan& plan);

/// Loads the module, reads its records until it ends or is stopped, and writes the report to stdout: each
/// interval as it closes, the whole at the end. `name` is for messages only; the catalog has the counters of the recipe
/// that the module says it is. `recorder` and `keeper` may be null.
base::Result<void> measure(const host::System& machine, const recipe::Catalog& catalog, launch::LoadJob job,
                           const std::string& name, const MeasurePlan& plan, Recorder* recorder,
                           Keeper* keeper = nullptr);

/// The same for a recipe that reads the kernel's counters: there is no module.
base::Result<void> measure_counters(const host::System& machine, const recipe::Catalog& catalog,
                                    host::CounterLines& lines, const std::string& name,
                                    std::chrono::milliseconds interval, const MeasurePlan& plan, Recorder* recorder,
                                    Keeper* keeper);

}  // namespace stapgen::session
