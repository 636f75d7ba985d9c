// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <limits>
#include <sstream>

#include "analyze/account_text.h"
#include "show/text/sections.h"
#include "unit/rows.h"

using namespace stapgen;

namespace {

std::string cost_text(const kinds::Cost& cost) {
    std::ostringstream out;
    rows::Summary summary;
    summary.cost = cost;
    show::write_cost(out, rows::results_of(summary, {}));
    return out.str();
}

}  // namespace

TEST_CASE("the probes' cost is reported with a row for each, the dearest first") {
    kinds::Cost cost;
    cost.add({"kernel.trace(\"kfree_skb\")", 3, 20, 41});
    cost.add({"kprobe.function(\"ip_rcv_core\")", 4001, 4000, 70000});
    CHECK(cost_text(cost) ==
          "\nThe probes' cost: 4,004 hits, 3,997 cycles each\n"
          " HITS         MEAN           MAX ONE CPU PROBE\n"
          "4,001 4,000 cycles 70,000 cycles       - kprobe.function(\"ip_rcv_core\")\n"
          "    3    20 cycles     41 cycles       - kernel.trace(\"kfree_skb\")\n\n");
    cost.cycles_per_s = 2e9;
    cost.measured_ns = 1'000'000'000;
    cost.cpus = 2;
    cost.expected_hits = 3989;
    CHECK(cost_text(cost) ==
          "\nThe probes' cost: 4,004 hits (3,989 expected for this traffic), 2.00 us each; 0.80% of one CPU's "
          "time, 0.40% of all 2\n"
          " HITS    MEAN     MAX ONE CPU PROBE\n"
          "4,001 2.00 us 35.0 us   0.80% kprobe.function(\"ip_rcv_core\")\n"
          "    3   10 ns   21 ns   0.00% kernel.trace(\"kfree_skb\")\n\n");
    CHECK(cost_text({}).empty());
}

TEST_CASE("no clock that a file claims makes the text fail") {
    kinds::Cost cost;
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    cost.add({"x", 1, most, most});
    for (const double clock : {1e-300, -1.0, 1e300}) {
        cost.cycles_per_s = clock;
        cost.measured_ns = 1;
        CHECK(cost_text(cost).find("PROBE") != std::string::npos);
    }
}

TEST_CASE("a sample is reported with what there would be of all sockets, the whole is not") {
    CHECK(analyze::sample_text({}).empty());
    CHECK(analyze::sample_text({8, 16152}).find("of all sockets about 16,152 records") != std::string::npos);
    CHECK(analyze::sample_text({0, 1009}).find("several sizes") != std::string::npos);
}
