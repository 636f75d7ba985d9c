// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recording/facts.h"

namespace stapgen::recording {

/// All that is known of it, what it is and how it is: host, machine, label:NAME, kernel, build_id, command,
/// filter:OPTION, sample, definition.
std::vector<std::pair<std::string, std::string>> origin_texts(const Origin& origin);

}  // namespace stapgen::recording
