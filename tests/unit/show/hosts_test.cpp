// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/hosts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <sstream>

#include "has.h"
#include "repeated.h"
#include "session/presentation.h"
#include "written.h"

using namespace stapgen;
using namespace stapgen::summaries;
using stapgen::show::Hosts, stapgen::show::HostRow;

namespace {

/// Received packets of which each takes `rx_ns`, half of that in each of two stages but for 101 ns, and sent ones.
Summary summary_of(std::int64_t rx_ns, std::int64_t tx_ns, const std::string& kernel = "6.1.0") {
    Summary summary;
    summary.recipe = "net-latency";
    summary.origins = {{"lab", kernel, {}}};
    Breakdown rx("rx", {"drv-ip", "tcp-app"}, 3), tx("tx", {"qdisc"}, 3);
    const std::int64_t stages[] = {rx_ns / 2 - 101, rx_ns - rx_ns / 2 + 101};
    for (int i = 0; i < 401; ++i) {
        rx.add(rx_ns, stages);
        tx.add(tx_ns, std::span(&tx_ns, 1));
    }
    summary.stages = {{"drv-ip", {}, repeated(stages[0], 401)},
                      {"tcp-app", {}, repeated(stages[1], 401)},
                      {"qdisc", {}, repeated(tx_ns, 401)}};
    summary.breakdowns = {rx, tx};
    summary.accounting = {811, 802, 0, {}, {{"evicted", 9}}, {}, true};
    return summary;
}

HostRow host_row(const std::string& host, const Summary& summary) {
    return stapgen::show::host_row(host, stapgen::summaries::results_of(summary, {}));
}

std::string page_of(const Hosts& hosts) {
    std::ostringstream out;
    stapgen::show::format_named("html").write_hosts(out, hosts, reports_of({summary_of(1009, 101)}), {});
    return out.str();
}

}  // namespace

TEST_CASE("the slowest host is first, by the direction that is slowest on some host") {
    const Hosts hosts({host_row("web1", summary_of(20'011, 7001)), host_row("web2", summary_of(1009, 900'001)),
                       host_row("web3", summary_of(30'011, 11'003)), host_row("web4", {})},
                      "");
    CHECK(hosts.stage == "tx total");
    REQUIRE(hosts.rows.size() == 4);
    CHECK(hosts.rows[0].host == "web2");
    CHECK(hosts.rows[1].host == "web3");
    CHECK(hosts.rows[2].host == "web1");
    CHECK(hosts.rows[3].host == "web4");
    CHECK(hosts.rows[1].percentile(99).value() == doctest::Approx(11'003).epsilon(table::relative_error));
    CHECK_FALSE(hosts.rows[3].percentile(99));
    CHECK(hosts.rows[1].slowest_stage == "tcp-app");
    CHECK(hosts.rows[1].n == 802);
    CHECK(hosts.rows[1].lost == 9);
}

TEST_CASE("a host that differs is first, before slower ones, and the stage is the one in which it differs") {
    auto different = host_row("web1", summary_of(20'011, 7001));
    different.differs_in = "drv-ip";
    const Hosts hosts({host_row("web2", summary_of(1009, 900'001)), different}, "", "web1 is different");
    CHECK(hosts.stage == "drv-ip");
    CHECK(hosts.rows[0].host == "web1");
}

TEST_CASE("of hosts with drops there is a table and no chart") {
    Summary drops;
    drops.accounting = {17, 17, 0, {}, {}, {}, true};
    const Hosts hosts({host_row("web1", drops)}, "");
    CHECK(hosts.stage.empty());
    const auto page = page_of(hosts);
    CHECK(has(page, "Records by host"));
    CHECK_FALSE(has(page, "<figure>"));
}

TEST_CASE("hosts beyond the first sixty are counted") {
    std::vector<HostRow> rows;
    for (int i = 0; i < 67; ++i)
        rows.push_back(host_row(fmt::format("web{}", i), summary_of(20'011 + i, 101)));
    const auto page = page_of(Hosts(std::move(rows), ""));
    CHECK(has(page, "7 more hosts have no chart."));
    CHECK(has(page, "<strong>web7</strong>"));
    CHECK_FALSE(has(page, "<strong>web6</strong>"));
    CHECK(has(page, ">web6</th>"));
}
