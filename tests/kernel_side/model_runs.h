// SPDX-License-Identifier: GPL-2.0-or-later
// Runs of a model with drawn choices, for doctest.
#pragma once

#include <doctest/doctest.h>

#include "model.h"

/// The counts of so many runs together, each of a model that was just made and of other choices. Fails where a model
/// throws, and says which run.
template <class M>
std::array<long, STAPGEN_COUNTS> counts_of_runs(unsigned runs) {
    std::array<long, STAPGEN_COUNTS> counts{};
    for (unsigned seed = 1; seed <= runs; ++seed) {
        CAPTURE(seed);
        const auto bytes = drawn_bytes(seed, 601);
        M model;
        REQUIRE_NOTHROW(model.run({bytes.data(), bytes.size()}));
        for (int what = 0; what < STAPGEN_COUNTS; ++what)
            counts[what] += model.count(what);
    }
    return counts;
}
