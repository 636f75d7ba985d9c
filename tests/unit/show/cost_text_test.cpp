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
    summaries::Summary summary;
    summary.cost = cost;
    const auto results = summaries::results_of(summary, {});
    draw(show::Text{out, results, {}}, show::section::Cost());
    return out.str();
}

}  // namespace

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
