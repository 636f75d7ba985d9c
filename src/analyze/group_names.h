// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "analyze/summary.h"

namespace stapgen::analyze {

/// The name for a value by which is grouped; nothing where it stays as it is.
using NameOf = std::function<std::optional<std::string>(const GroupField& field)>;

/// Puts names instead of values in groups, of drops and of the slowest records, too. What has one name then is one.
void name_groups(Summary& summary, const NameOf& name_of);

}  // namespace stapgen::analyze
