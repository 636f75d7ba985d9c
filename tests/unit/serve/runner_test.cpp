// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/runner.h"

#include <doctest/doctest.h>

using namespace stapgen::serve;
using std::chrono::seconds;

TEST_CASE("each try waits twice as long, ten minutes at most, and a run that went on begins anew") {
    seconds wait{0};
    std::vector<std::int64_t> waits;
    for (int i = 0; i < 9; ++i) {
        wait = wait_after(wait, seconds(2));
        waits.push_back(wait.count());
    }
    CHECK(waits == std::vector<std::int64_t>{5, 10, 20, 40, 80, 160, 320, 600, 600});
    CHECK(wait_after(wait, seconds(599)) == seconds(600));
    CHECK(wait_after(wait, seconds(600)) == seconds(5));
}
