// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>

#include "launch/run.h"
#include "module/make.h"
#include "session/plan.h"

/// The output of --dry-run: a plan, which may be for another machine. So what is not here is said on stderr and is no
/// error, and nothing is made.
namespace stapgen::cli {

/// The commands that a person would type to do the same. `load` may be null.
void print_commands(const module::Preparation& preparation, const launch::LoadJob* load);

/// When the measurement would end, and what it would keep.
void print_ending(const session::MeasurePlan& plan);

/// Says on stderr why `file`, the value of `option`, cannot be made here, if it cannot. `replaces`: one that is there
/// already is not in the way.
void warn_if_impossible(const std::filesystem::path& file, std::string_view option, bool replaces);

}  // namespace stapgen::cli
