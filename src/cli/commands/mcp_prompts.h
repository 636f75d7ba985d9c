// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "mcp/server.h"

namespace stapgen::cli {

/// What a client has typed for a file, if that is there below the folder.
using BelowFolder = std::function<base::Result<std::string>(const std::string& typed)>;

/// Playbooks over the tools of `stapgen mcp`, as docs/start-here.md has them for people.
std::vector<mcp::Prompt> mcp_prompts(BelowFolder below);

}  // namespace stapgen::cli
