#pragma once

#include <string>
#include <vector>

#include "cli/help/candidates.h"

namespace stapgen::cli {

/// What may stand in place of the last of `words`, which are those behind the program's name: whole words that begin
/// as it does.
Completion completion_of(const Known& known, const std::vector<std::string>& words);

/// `stapgen complete -- WORDS...`, which the shells' files of completions/ call: prints each candidate, a tab and what
/// it is; at the end `:files` or `:folders` where a path may stand.
void print(const Completion& completion);

}  // namespace stapgen::cli
