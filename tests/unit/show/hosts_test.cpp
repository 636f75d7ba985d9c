// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/hosts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <regex>
#include <sstream>

#include "has.h"
#include "repeated.h"
#include "session/presentation.h"
#include "written.h"

using namespace stapgen;
using namespace stapgen::rows;
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
    return stapgen::show::host_row(host, stapgen::rows::results_of(summary, {}));
}

std::string written_of(const char* format, const Hosts& hosts) {
    std::ostringstream out;
    stapgen::show::format_named(format).write_hosts(out, hosts, reports_of({summary_of(1009, 101)}), {});
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
    CHECK(host_text(hosts.rows[0]) == "6.1.0, n 802, p99 900 us, lost 9");
    CHECK(host_text(hosts.rows[3]) == "n 0, p99 -, lost 0");
    const auto text = written_of("table", hosts);
    CHECK(text.starts_with("HOST KERNEL   N P50 [us]     P99     MAX SLOWEST STAGE LOST\nweb2 6.1.0  802  "));
    CHECK(has(text, "\n\nnet-latency\n"));
}

TEST_CASE("a host that differs is first and marked, before slower ones") {
    auto different = host_row("<web1>", summary_of(20'011, 7001));
    different.differs_in = "drv-ip";
    different.difference = "drv-ip p50 +752 %";
    const Hosts hosts({different, host_row("web2", summary_of(1009, 900'001))}, "", "<web1> is different");
    CHECK(hosts.stage == "drv-ip");
    CHECK(hosts.rows[0].host == "<web1>");
    CHECK(host_text(hosts.rows[0]).starts_with("drv-ip p50 +752 %; 6.1.0, n 802, "));
    const auto text = written_of("table", hosts);
    CHECK(text.starts_with("<web1> is different.\n\nHOST "));
    CHECK_FALSE(has(text, "DIFFERS"));
    const auto page = written_of("html", hosts);
    CHECK(has(page, "<p class=\"answer\">&lt;web1&gt; is different.</p>"));
    CHECK(has(page, "<h2>Hosts, those that differ first</h2>"));
    CHECK(has(page, "<strong data-mark=\"slower\">&lt;web1&gt;</strong> drv-ip p50 +752 %; "));
    CHECK(has(page, "<th scope=\"row\" data-mark=\"slower\">&lt;web1&gt;</th>"));
    CHECK(has(page, "<td>drv-ip p50 +752 %</td></tr>"));
    CHECK(has(page, "<strong>web2</strong>"));
}

TEST_CASE("of hosts with drops there is a table and no chart") {
    Summary drops;
    drops.accounting = {17, 17, 0, {}, {}, {}, true};
    const Hosts hosts({host_row("web1", drops)}, "");
    CHECK(hosts.stage.empty());
    const auto page = written_of("html", hosts);
    CHECK(has(page, "Records by host"));
    CHECK_FALSE(has(page, "<figure>"));
}

TEST_CASE("each host's chart is on one scale, with its p99") {
    // All values are in one bin: 16 us to 18 us of the first host, 1 us to 1.125 us of the second.
    const Hosts hosts({host_row("web1", summary_of(17'001, 101)), host_row("<web2>", summary_of(1051, 101, "6.12.9"))},
                      "1 of 3 hosts did not complete: web3 (unreachable)");
    const auto page = written_of("html", hosts);
    const std::regex figure(
        "<figure><figcaption><strong>(.*?)</strong> (.*?)</figcaption>\n<svg [^>]*><path d=\"(.*?)\"/>"
        "<path class=\"mark\" d=\"M([0-9.]+) 0V100\"/></svg>");
    std::vector<std::smatch> found;
    for (auto at = std::sregex_iterator(page.begin(), page.end(), figure); at != std::sregex_iterator(); ++at)
        found.push_back(*at);
    REQUIRE(found.size() == 2);
    CHECK(found[0][1] == "web1");
    CHECK(found[0][2] == "6.1.0, n 802, p99 17.0 us, lost 9");
    CHECK(found[1][1] == "&lt;web2&gt;");
    CHECK(found[1][2] == "6.12.9, n 802, p99 1.05 us, lost 9");
    // Of log2(18432 / 1024) = 4.17 doublings.
    CHECK(found[0][3] == "M95.92 100V0.00H100.00V100");
    CHECK(found[1][3] == "M0.00 100V0.00H4.08V100");
    CHECK(std::stod(found[0][4]) == doctest::Approx(97.2).epsilon(0.002));
    CHECK(std::stod(found[1][4]) == doctest::Approx(0.9).epsilon(0.03));
    CHECK(has(page, "1 of 3 hosts did not complete: web3 (unreachable)"));
    CHECK(has(page, "<i style=\"left:78.84%\">10 us</i>"));
}

TEST_CASE("hosts beyond the first sixty are counted") {
    std::vector<HostRow> rows;
    for (int i = 0; i < 67; ++i)
        rows.push_back(host_row(fmt::format("web{}", i), summary_of(20'011 + i, 101)));
    const auto page = written_of("html", Hosts(std::move(rows), ""));
    CHECK(has(page, "7 more hosts have no chart."));
    CHECK(has(page, "<strong>web7</strong>"));
    CHECK_FALSE(has(page, "<strong>web6</strong>"));
    CHECK(has(page, ">web6</th>"));
}
