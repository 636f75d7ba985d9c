// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/module_file.h"

#include <algorithm>
#include <string>

#include "fuzz.h"
#include "memory_file.h"

using namespace stapgen;

/// A module's file, packed or not.
FUZZ_TARGET(module_file) {
    const fuzz::MemoryFile file(data, size);
    const auto module = symbols::read_module_file(file.path());
    if (!module) {
        fuzz::always(!module.error().what.empty() && !module.error().hint.empty());
        return 0;
    }
    fuzz::always(module->build_id.find_first_not_of("0123456789abcdef") == std::string::npos);
    fuzz::always(std::ranges::is_sorted(module->functions, {}, &symbols::ModuleFile::Function::offset));
    for (const auto& function : module->functions)
        fuzz::always(!function.name.empty());
    return 0;
}
