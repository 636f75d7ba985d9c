// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/kernel.h"
#include "fuzz.h"

using namespace stapgen;

/// A copy of /proc/modules.
FUZZ_TARGET(loaded_modules) {
    const auto text = fuzz::text_of(data, size);
    const auto modules = base::parse_loaded_modules(text, "modules");
    if (!modules) {
        fuzz::always(modules.error().what.find("modules") != std::string::npos && !modules.error().hint.empty());
        return 0;
    }
    for (const auto& module : *modules) {
        fuzz::always(!module.name.empty() && text.find(module.name) != std::string_view::npos);
        fuzz::always(module.base != std::uint64_t{0});
    }
    return 0;
}
