// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "host/system.h"
#include "serve/address.h"
#include "serve/otlp_push.h"
#include "serve/runner.h"

namespace stapgen::serve {

struct Job {
    std::vector<RecipeJob> recipes;
    Endpoint listen;
    std::optional<Url> otlp;
    PushTimes push_times;
    int native_schema = 5;
    std::size_t max_series = 0;
};

/// Measures and answers until SIGINT, SIGTERM or SIGHUP: then all recipes end in order, and no module stays; at the
/// second one at once. Errors: it cannot listen there, or no recipe can be measured on this machine.
base::Result<void> serve(const host::System& machine, const Job& job);

}  // namespace stapgen::serve
