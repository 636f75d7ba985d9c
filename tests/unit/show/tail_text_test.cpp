// SPDX-License-Identifier: GPL-2.0-or-later
// The sentences themselves are in tests/golden/formats/tail.case.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "has.h"
#include "kinds/latency/tail.h"

using stapgen::kinds::latency::tail_sentence;
using stapgen::table::Breakdown;

namespace {

/// n records whose stages are these, in ns.
void add(Breakdown& breakdown, int n, const std::vector<std::int64_t>& stages) {
    std::int64_t total = 0;
    for (const auto stage : stages)
        total += std::max<std::int64_t>(stage, 0);
    for (int i = 0; i < n; ++i)
        breakdown.add(total, stages);
}

}  // namespace

TEST_CASE("of too few records it is said how many are needed, and nothing of none") {
    Breakdown breakdown("", {"drv-ip"}, 0);
    CHECK(tail_sentence(breakdown).empty());
    add(breakdown, 367, {4001});
    CHECK(has(tail_sentence(breakdown), " 368 "));
    CHECK(has(tail_sentence(breakdown, 99.9), " 3,688 "));
    add(breakdown, 1, {4001});
    CHECK(has(tail_sentence(breakdown), "no tail"));
}

TEST_CASE("names from the input do no harm to a terminal") {
    Breakdown breakdown("r\x1bx", {"a\nb"}, 0);
    add(breakdown, 997, {1000});
    add(breakdown, 3, {9000});
    const auto text = tail_sentence(breakdown);
    CHECK_FALSE(has(text, "\x1b"));
    CHECK(has(text, "a\\x0ab"));
}
