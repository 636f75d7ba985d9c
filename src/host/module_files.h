// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

#include "base/result.h"

/// Files by which a loaded module of SystemTap takes orders: probes of procfs in its script.
namespace stapgen::host {

bool has_module_file(const std::string& module, const std::string& name);
/// Writes all of it at once, as the module takes it. Error (failed): it cannot be written.
base::Result<void> write_module_file(const std::string& module, const std::string& name, const std::string& text);

}  // namespace stapgen::host
