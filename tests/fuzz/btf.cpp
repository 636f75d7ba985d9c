// SPDX-License-Identifier: GPL-2.0-or-later
#include <span>
#include <string>

#include "fuzz.h"
#include "symbols/drop_reasons.h"

using namespace stapgen;

/// Names of drop reasons from a kernel's type information, and, of the same bytes, from the release as it is typed.
FUZZ_TARGET(btf) {
    if (const auto reasons = symbols::DropReasons::from_btf(std::as_bytes(std::span(data, size)))) {
        fuzz::always(!reasons->all().empty() && reasons->guess().empty());
        for (const auto& [number, name] : reasons->all())
            fuzz::always(reasons->name(number) == name && reasons->describe(number) == name);
        fuzz::always(!reasons->describe(0x70001).empty());
    } else {
        fuzz::always(reasons.error().kind == base::ErrorKind::bad_input && !reasons.error().hint.empty());
    }
    if (const auto reasons = symbols::DropReasons::of_release(fuzz::text_of(data, size))) {
        fuzz::always(!reasons->all().empty() && !reasons->guess().empty());
    } else {
        fuzz::always(reasons.error().kind == base::ErrorKind::bad_input);
    }
    return 0;
}
