// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "kinds/measured.h"
#include "rows/kept.h"

namespace stapgen::study {

/// Sets what differs between the records of the moment at which a condition held and those before it: compare() says
/// which stages do, and of these are the parts that changed most. For that both have to be explained
/// (kinds::Settings::explains), else no connections are named.
void compare_moment(const kinds::Measured& before, const kinds::Measured& at, rows::Kept& kept);

}  // namespace stapgen::study
