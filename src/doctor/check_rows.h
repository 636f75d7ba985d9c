#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/doctor.h"

namespace stapgen::doctor {

/// The doctor's table, 80 columns wide but for commands and paths, which are never cut: what was found, and in lines
/// of their own what to do.
std::string rows_text(const std::vector<Check>& checks, host::Distribution distribution);

/// The first check that keeps the subject from its run as an error, with the rows of all others that do in its hint.
base::Result<void> able(const std::vector<Check>& checks, const Subject& subject, host::Distribution distribution);

/// What the rows of those checks say that are not ok by now, of these ids: those of a message of SystemTap's
/// (launch::Diagnosis::checks). Empty: none does.
std::string explanation_of(const host::System& machine, const Question& question, std::string_view ids);

/// "ok", "worked around", "note", "missing".
std::string_view state_name(State state);

}  // namespace stapgen::doctor
