// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/drop_reasons.h"

#include "fuzz.h"

using namespace stapgen;

/// Every name that the text lists is the text's own, and every number has a description.
FUZZ_TARGET(drop_reasons) {
    const auto text = fuzz::text_of(data, size);
    const auto reasons = symbols::DropReasons::parse(text);
    if (!reasons) {
        fuzz::always(reasons.error().kind == base::ErrorKind::bad_input && !reasons.error().hint.empty());
        return 0;
    }
    fuzz::always(!reasons->all().empty());
    for (const auto& [number, name] : reasons->all()) {
        fuzz::always(text.find(name) != std::string_view::npos);
        fuzz::always(reasons->name(number) == name && reasons->describe(number) == name);
        fuzz::always(reasons->name(number + 1) || !reasons->describe(number + 1).empty());
    }
    return 0;
}
