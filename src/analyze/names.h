// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "kinds/measured.h"

/// Names instead of the numbers that a kernel gives.
namespace stapgen::analyze {

/// The name of a field of a group; nothing where it has none.
using NameOf = std::function<std::optional<std::string>(const table::Group& group, const table::GroupField& field)>;

/// Puts names instead of what groups and the slowest records have in their fields. Those that get the same name are
/// added up.
void name_groups(kinds::Measured& measured, const NameOf& name_of);

}  // namespace stapgen::analyze
