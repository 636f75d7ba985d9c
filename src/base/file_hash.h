// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace stapgen::base {

/// sha256() of a file's bytes, however many these are.
Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace stapgen::base
