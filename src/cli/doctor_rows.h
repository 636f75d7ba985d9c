#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/doctor.h"
#include "launch/run.h"

namespace stapgen::cli {

/// The doctor's table, 80 columns wide but for commands and paths, which are never cut: what was found, and in lines
/// of their own what to do.
std::string rows_text(const std::vector<doctor::Check>& checks, host::Distribution distribution);

/// Tells of a failure those rows that are not ok, by then, and belong to its message. Both must outlive it.
launch::Explanation explanation(const host::System& machine, const doctor::Question& question);

/// The first check that keeps the subject from its run as an error, with the rows of all others that do in its hint.
base::Result<void> able(const std::vector<doctor::Check>& checks, const doctor::Subject& subject,
                        host::Distribution distribution);

/// "ok", "cured", "note", "missing".
std::string_view state_name(doctor::State state);

}  // namespace stapgen::cli
