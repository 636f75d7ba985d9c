// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "module/make.h"
#include "session/plan.h"

namespace stapgen::cli {

/// Changes how a module is made so that it keeps: in the kernel where the recipe can, else of printed lines, in
/// intervals as short as those in the kernel. Error: a condition is wrong by the recipe's own text; the rest is known
/// once the module's first lines are.
base::Result<void> use_keeping(const recipe::Recipe& recipe, module::MakeOptions& make, session::KeepPlan& keep);

}  // namespace stapgen::cli
