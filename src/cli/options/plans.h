#pragma once

#include "base/result.h"
#include "cli/options/options.h"
#include "host/system.h"
#include "report/presentation.h"
#include "session/plan.h"
#include "symbols/kernel_names.h"

/// Values as typed -> plans, checked. Errors are bad_input.
namespace stapgen::cli {

base::Result<report::Presentation> presentation_of(const PresentOptions& options);

base::Result<symbols::NameSources> sources_of(const NameOptions& options);

/// Its notes say what of the filters is not there now, and why there is no live view. Threads and processes need not
/// be there for a `dry_run`.
base::Result<session::MeasurePlan> plan_of(const host::System& machine, const MeasureOptions& options, bool dry_run);

}  // namespace stapgen::cli
