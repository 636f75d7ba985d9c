// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace stapgen::symbols {

/// The file with DWARF and symbols of this build-id (hexadecimal) from the servers of $DEBUGINFOD_URLS, in the cache
/// that all debuginfod clients share. Progress goes to stderr while it takes long. Errors (bad_input, with the
/// remedy): no server is set, none has it, the client library is not installed.
base::Result<std::filesystem::path> debuginfo_of(std::string_view build_id);

}  // namespace stapgen::symbols
