// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <memory>

#include "base/files.h"
#include "base/result.h"

namespace stapgen::base {

/// A folder that stays the same whatever becomes of its name.
using OpenFolder = std::unique_ptr<Descriptor>;

/// The folder `inner` below `folder`, made if it is not there and `make` says so. Root follows no link on the way from
/// `folder` on: others may write there. Error (failed): it names the place.
Result<OpenFolder> open_below(const std::filesystem::path& folder, const std::filesystem::path& inner, bool make);

/// A path to it as long as it is open.
std::filesystem::path path_of(const OpenFolder& folder);

}  // namespace stapgen::base
