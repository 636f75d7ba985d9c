// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/system.h"

/// Whose signatures the running kernel takes, and whose a module has.
namespace stapgen::host {

/// The names in the certificates of its rings for modules: .builtin_trusted_keys, .secondary_trusted_keys, .machine
/// (keys that mokutil enrolled) and .platform (the firmware's, which RHEL's kernels take, too). Each once, sorted.
/// Nothing where they cannot be read: they are root's, and /proc/keys may be missing.
std::optional<std::vector<std::string>> module_keys(const System& system);

/// The signer's name in a module's signature, as modinfo reads it. Empty: it has none, or modinfo cannot read it.
std::string signer_of(const System& system, const std::filesystem::path& module);

}  // namespace stapgen::host
