// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "analyze/account_text.h"
#include "unit/rows.h"

using namespace stapgen;

namespace {

recording::Origin at(const std::string& host, const std::string& port) {
    recording::Origin origin;
    origin.host = host;
    origin.kernel = "6.12";
    origin.command = {"stapgen", "rx-latency", "--port", port};
    origin.filters = {{"port", port}};
    return origin;
}

summaries::Summary filtered(std::vector<recording::Origin> origins) {
    summaries::Summary summary;
    summary.recipe = "rx-latency";
    summary.origins = std::move(origins);
    summary.accounting.seen = summary.accounting.filtered = 307;
    summary.accounting.closed = true;
    return summary;
}

}  // namespace

TEST_CASE("of several measurements each host is reported once, and each of their filters") {
    const auto summary = filtered({at("web17", "80"), at("web18", "81"), at("web17", "80")});
    CHECK(analyze::hosts_of(summary) == std::vector<std::string>{"web17, Linux 6.12", "web18, Linux 6.12"});
    CHECK(analyze::origin_lines(summary).size() == 2);
    CHECK(analyze::filters_text(summary) == "--port 80 or --port 81");
    std::vector<recording::Origin> many;
    for (int i = 0; i < 10; ++i)
        many.push_back(at("web" + std::to_string(i), "80"));
    const auto lines = analyze::origin_lines(filtered(many));
    REQUIRE(lines.size() == 5);
    CHECK(lines.back().find(" 6 ") != std::string::npos);
}
