// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics/text.h"

#include <doctest/doctest.h>

#include <limits>
#include <sstream>

using namespace stapgen::metrics;

namespace {

std::string text_of(const Families& families, const TextStyle& style) {
    std::ostringstream out;
    write_text(out, families, style);
    return out.str();
}

Families some() {
    Family counter{"a_drops", Type::counter, "", "Help."};
    counter.add({{"place", "x\"\\\n"}}, std::int64_t{7});
    Family info{"a_build", Type::info, "", "Help."};
    info.samples[Labels{{"version", "1"}}] = std::int64_t{1};
    Family states{"a_state", Type::stateset, "", "Help."};
    states.samples[Labels{{"a_state", "on"}}] = std::int64_t{1};
    Family cost{"a_cost_seconds", Type::counter, "seconds", "Help."};
    cost.samples[Labels()] = 1.5;
    return {counter, info, states, cost, {"a_none", Type::gauge, "", "Help."}};
}

}  // namespace

TEST_CASE("OpenMetrics: names, units, escapes and when it began") {
    CHECK(text_of(some(), {.created_s = 1795180848.5}) ==
          "# TYPE a_drops counter\n# HELP a_drops Help.\n"
          "a_drops_total{place=\"x\\\"\\\\\\\\x0a\"} 7\n"
          "a_drops_created{place=\"x\\\"\\\\\\\\x0a\"} 1795180848.500\n"
          "# TYPE a_build info\n# HELP a_build Help.\n"
          "a_build_info{version=\"1\"} 1\n"
          "# TYPE a_state stateset\n# HELP a_state Help.\n"
          "a_state{a_state=\"on\"} 1\n"
          "# TYPE a_cost_seconds counter\n# UNIT a_cost_seconds seconds\n# HELP a_cost_seconds Help.\n"
          "a_cost_seconds_total 1.5\na_cost_seconds_created 1795180848.500\n"
          "# EOF\n");
    CHECK(text_of({}, {}) == "# EOF\n");
}

TEST_CASE("text 0.0.4 knows neither info nor stateset, and has no end") {
    CHECK(text_of(some(), {.openmetrics = false, .created_s = 7}) ==
          "# TYPE a_drops_total counter\n# HELP a_drops_total Help.\n"
          "a_drops_total{place=\"x\\\"\\\\\\\\x0a\"} 7\n"
          "# TYPE a_build_info gauge\n# HELP a_build_info Help.\n"
          "a_build_info{version=\"1\"} 1\n"
          "# TYPE a_state gauge\n# HELP a_state Help.\n"
          "a_state{a_state=\"on\"} 1\n"
          "# TYPE a_cost_seconds_total counter\n# HELP a_cost_seconds_total Help.\n"
          "a_cost_seconds_total 1.5\n");
}

TEST_CASE("equal labels add up, whole numbers neither overflow nor go below zero") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    Family family{"a", Type::counter, "", ""};
    family.add({}, std::int64_t{-3});
    CHECK(std::get<std::int64_t>(family.samples.at(Labels())) == 0);
    family.add({}, most);
    family.add({}, most);
    CHECK(std::get<std::int64_t>(family.samples.at(Labels())) == most);
    Family sums{"b", Type::summary, "", ""};
    sums.add({}, Sum{3, 0.5});
    sums.add({}, Sum{4, 0.25});
    CHECK(std::get<Sum>(sums.samples.at(Labels())).n == 7);
    CHECK(std::get<Sum>(sums.samples.at(Labels())).sum == 0.75);
}
