#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.h"
#include "host/system.h"

namespace stapgen::doctor {

/// All checks that belong to the question, the most fundamental first.
std::vector<Check> examine(const host::System& system, const Question& question);

/// Whether stapgen's own virtual machines can be made here, which no run needs.
Check lab(const host::System& system);

/// Whether the subject's run is kept from being made or loaded by this check.
bool blocks(const Check& check, const Subject& subject);

/// The remedy in one line, for this family of distributions. Empty if there is none.
std::string remedy_text(const Remedy& remedy, host::Distribution distribution);

/// In the order to be shown: missing, note, worked around, ok; among equals as they were.
std::vector<Check> most_urgent_first(std::vector<Check> checks);

/// Those of these ids (with blanks between; "workarounds": all with a workaround but the symbol table's) that are
/// missing or a note.
std::vector<Check> not_ok(const std::vector<Check>& checks, std::string_view ids);

/// What it comes to.
struct Verdict {
    std::vector<std::string> able, unable;  ///< names of subjects
    std::string what;                       ///< one sentence
    std::string first;                      ///< what to do first, or how to go on; may be empty
};
Verdict conclude(const std::vector<Check>& checks, const Question& question);

}  // namespace stapgen::doctor
