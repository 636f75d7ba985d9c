// SPDX-License-Identifier: GPL-2.0-or-later
#include <string>

#include "fuzz.h"
#include "launch/module_file.h"
#include "memory_file.h"

using namespace stapgen;

/// A .ko that was made elsewhere, whose name becomes a file's.
FUZZ_TARGET(module_info) {
    const fuzz::MemoryFile file(data, size);
    const auto info = launch::read_module_info(file.path());
    if (!info) return 0;
    fuzz::always(info->name.find('\0') == std::string::npos);
    fuzz::always(info->release.find_first_of(std::string_view(" \0", 2)) == std::string::npos);
    const auto name = launch::loaded_name(info->name, 4711);
    fuzz::always(name.size() == info->name.size());
    return 0;
}
