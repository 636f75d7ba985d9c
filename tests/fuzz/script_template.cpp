// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <string>

#include "fuzz.h"
#include "render/script.h"
#include "render/standalone.h"

using namespace stapgen;

/// A recipe's script.stp, of which everything comes from whoever wrote it.
FUZZ_TARGET(script_template) {
    const auto text = fuzz::text_of(data, size);
    const auto filled = render::fill_template(
        text, {{"header", "stapgen\\t2"}, {"summary", "a"}, {"empty", ""}, {"on", "1"}, {"off", "false"}},
        "script.stp");
    if (!filled) {
        fuzz::always(filled.error().kind == base::ErrorKind::bad_input);
        fuzz::always(filled.error().what.starts_with("script.stp"));
        return 0;
    }
    if (text.find("<%") == std::string_view::npos) fuzz::always(*filled == text);

    const auto half = filled->size() / 2;
    const auto script = std::string_view(*filled).substr(half);
    const auto whole = render::with_tapsets(
        script, {{"stapgen_a.stp", filled->substr(0, half)}, {"stapgen.stpm", "@define stapgen_b %( 1 %)\n"}});
    fuzz::always(whole.size() >= script.size());
    return 0;
}
