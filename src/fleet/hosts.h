// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::fleet {

/// "web1,web2", or a file with one host in each line, where # begins a comment: a word with a '/' is one, as no host
/// has it, and no other is, so that no file of the working folder takes the place of a host. A host is what ssh takes:
/// NAME, USER@NAME, or an alias of ~/.ssh/config. Errors (bad_input): no host, one twice, or one that is no such word,
/// with its line.
base::Result<std::vector<std::string>> parse_hosts(const std::string& typed);

}  // namespace stapgen::fleet
