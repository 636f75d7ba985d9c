// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "has.h"
#include "written.h"

// More calls than a recording of a size to keep has: tests/golden/formats/calls.case has the trees themselves.
TEST_CASE("what is not kept of the calls is counted in the text and on the page") {
    stapgen::summaries::Summary summary;
    summary.recipe = "call-trace";
    summary.calls = {{1, 0, 57123, 0, "ip_rcv", "skb", "softirq", 3, 0, "idle"}};
    summary.calls_left_out = 1009;
    for (const char* format : {"table", "html"})
        CHECK(has(written(format, {summary}), "1009 more calls"));
    CHECK(has(written("json", {summary}), "\"calls_left_out\": 1009"));
}
