// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <regex>
#include <sstream>

#include "has.h"
#include "repeated.h"
#include "show/html/html_page.h"
#include "written.h"

using namespace stapgen;
using namespace stapgen::rows;
using stapgen::show::Options;

namespace {

constexpr std::int64_t start = 1'795'180'000'000'000'000;

std::size_t times(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
        ++count;
    return count;
}

/// Without style and scripts, which are the same on every page.
std::string body_of(const std::string& page) {
    const auto begin = page.find("<body>");
    return page.substr(begin, page.find("<footer>") - begin);
}

std::string page_of(const Summary& summary, const Options& options = {}) {
    setenv("TZ", "UTC", 1);
    tzset();
    return written("html", {summary}, options);
}

/// Two directions, one of them with a tail, times for a series, groups, values, losses.
Summary packets() {
    Summary summary;
    summary.recipe = "net-latency";
    Breakdown rx("rx", {"drv-ip", "tcp-app"}, 3), tx("tx", {"qdisc"}, 3);
    summary.series = Series(3);
    std::vector<table::Histogram> whole(3), first(3);
    for (int i = 0; i < 1009; ++i) {
        const std::int64_t times[] = {3001 + i, i % 37 == 0 ? 1'300'013 : 70'001 + 17 * i, 5003 + i * i % 997};
        auto& block = summary.series.at(start + i * 11'000'000LL);
        for (std::size_t stage = 0; stage < 3; ++stage) {
            whole[stage].add(times[stage]);
            if (i % 3 == 0) first[stage].add(times[stage]);
            block.stages[stage].add(times[stage]);
        }
        if (rx.add(times[0] + times[1], std::span(times, 2))) {
            rx.keep(
                {times[0] + times[1], start + i, {times[0], times[1]}, {{"comm", "reader"}, {"cpu", std::int64_t{5}}}});
        }
        tx.add(times[2], std::span(times + 2, 1));
    }
    const std::vector<std::string> names = {"drv-ip", "tcp-app", "qdisc"};
    for (std::size_t stage = 0; stage < 3; ++stage)
        summary.stages.push_back({names[stage], {}, whole[stage]});
    for (const std::int64_t tid : {191, 193})
        for (std::size_t stage = 0; stage < 3; ++stage)
            summary.stages.push_back({names[stage], {{"tid", tid}, {"comm", "reader"}}, first[stage]});
    summary.values = {{"epoll_events", {}, repeated(7, 1013)}};
    summary.breakdowns = {rx, tx};
    summary.accounting = {1055, 1009, 23, {{"no-read", 13}}, {{"evicted", 5}}, {{"acks", 4211}}, false};
    summary.transport = {17, 19, 29};
    summary.counters = {{"TcpExt.ListenDrops", "lost connections", 31}, {"Udp.InErrors", "", 0}};
    summary.input = {1117, 1114, 3, {{47, stapgen::decode::Flaw::bad_number}}};
    summary.notes = {{"requests above 100 us are cut off"}};
    summary.start_epoch_ns = start;
    summary.end_epoch_ns = start + 11'000'000'000;
    return summary;
}

Summary drops() {
    Summary summary;
    summary.recipe = "dropwatch";
    summary.counts_drops = true;
    for (int i = 0; i < 3; ++i) {
        Drop drop;
        drop.interval = i;
        drop.end_epoch_ns = start + (i + 1) * 5'000'000'000LL;
        drop.place.address = 0xffffffff9a000001;
        drop.count = 1103 + i;
        if (i == 1)
            drop.place.symbol = "icmp_rcv", drop.place.offset = 0x1f, drop.place.module = "icmp_module",
            drop.reason.name = "NO_SOCKET";
        summary.drops.push_back(drop);
        summary.intervals.push_back({start + i * 5'000'000'000LL, drop.end_epoch_ns});
    }
    summary.accounting = {3312, 3312, 0, {}, {}, {}, true};
    return summary;
}

/// Every number and every name with a digit that the text report shows must be on the page.
void check_holds_text_report(const Summary& summary) {
    const auto page = body_of(page_of(summary));
    const auto text = written("table", {summary});
    const auto words = text;
    const std::regex number(R"([0-9][0-9.:xa-f-]*[0-9]|[0-9]+)");
    int found = 0;
    for (std::sregex_iterator match(words.begin(), words.end(), number), end; match != end; ++match, ++found) {
        INFO("not on the page: " << match->str());
        CHECK(has(page, match->str()));
    }
    CHECK(found > 11);
}

}  // namespace

TEST_CASE("the page has every number of the text report") {
    check_holds_text_report(packets());
    check_holds_text_report(drops());
}

TEST_CASE("each stage has its row of numbers") {
    const auto summary = packets();
    const auto table = body_of(page_of(summary)).substr(0, body_of(page_of(summary)).find("</table>"));
    const std::regex tags("<[^>]*>+");
    const auto us = [](double ns) { return fmt::format(" {:.3f}", ns / 1e3); };
    // Of the stages of the same direction.
    const char* const shares[] = {" 3.0 %", " 97.0 %", " 100.0 %"};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& [name, group, stats] = summary.stages[i];
        auto row = table.substr(table.find(">" + name + "</th>") + 1);
        row = std::regex_replace(row.substr(0, row.find("</tr>")), tags, " ");
        row = std::regex_replace(row, std::regex(" +"), " ");
        std::string expected = name + shares[i] + " 1009" + us(*stats.mean());
        for (const double percent : {50.0, 90.0, 99.0})
            expected += us(static_cast<double>(*stats.percentile(percent)));
        CHECK(row == expected + " -" + us(static_cast<double>(*stats.max())) + " ");
    }
}

TEST_CASE("the page asks nobody for anything") {
    const auto page = page_of(packets());
    CHECK(has(page, "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'"));
    CHECK_FALSE(has(page, " src="));
    CHECK_FALSE(has(page, "<link"));
    CHECK_FALSE(has(page, "@import"));
    CHECK_FALSE(has(page, "url("));
    CHECK(has(page, "The MIT License (MIT)"));
    CHECK(has(page, "Leon Sorokin"));
    CHECK(page.size() < 250'000);
}

TEST_CASE("a stapgen without uPlot writes pages without script that say so") {
    for (const bool charts : {true, false}) {
        std::ostringstream out;
        stapgen::show::html::write(out, {"a page", {}, charts});
        CHECK(has(out.str(), "<script") == charts);
        CHECK(has(out.str(), "uPlot, whose licence") == charts);
        CHECK(has(out.str(), "There are no charts") != charts);
    }
}

TEST_CASE("names from the input stay text, whatever they are") {
    const std::string name = "</script><script>x()</script>\"'&\x1b[1m\xff{{css}}";
    const std::string shown = "&lt;/script&gt;&lt;script&gt;x()&lt;/script&gt;&quot;&apos;&amp;\\x1b[1m\\xff{{css}}";
    auto summary = packets();
    summary.recipe = name;
    summary.origins = {{name, "", {}}};
    summary.notes = {{name}};
    summary.counters[0].name = summary.counters[0].help = name;
    summary.accounting.lost[0].name = name;
    for (auto& stage : summary.stages)
        if (!stage.group.empty()) stage.group[1].value = name;
    auto dropped = drops();
    dropped.drops[0].place.symbol = dropped.drops[0].place.module = dropped.drops[0].reason.name = name;
    const auto out = written("html", {summary, dropped});
    const auto page = out;
    CHECK(times(page, "<script>") == 2);
    CHECK(times(page, "</script>") == 2);
    CHECK_FALSE(has(page, name));
    CHECK_FALSE(has(page, "\x1b"));
    CHECK_FALSE(has(page, "\xff"));
    CHECK(times(body_of(page), shown) > 11);
}

TEST_CASE("shares, confidence intervals and what is too few are reported") {
    const auto page = body_of(page_of(packets()));
    CHECK(has(page, "P50: 95 % confidence "));
    CHECK(has(page, "P99.9: needs 3688 values"));
    CHECK(has(page, "-: not enough samples; P99.9 needs 3688"));
    CHECK(has(page, "standard deviation "));
    // The bar of a direction has the parts of that direction alone.
    CHECK(has(page, "title=\"qdisc 5.50 us, 100.0 %\""));
    CHECK(has(page, "title=\"tcp-app 112 us, 97.0 %\""));
}

TEST_CASE("warnings and notes stand before the numbers") {
    const auto page = body_of(page_of(packets()));
    const auto first_table = page.find("<table");
    for (const auto* text :
         {"SystemTap skipped 17 probes", "5 of 1055 seen were lost", "requests above 100 us are cut off"})
        CHECK(page.find(text) < first_table);
    auto clean = packets();
    clean.accounting = {1009, 1009, 0, {}, {}, {}, true};
    clean.transport = {};
    CHECK_FALSE(has(page_of(clean), "WARNING"));
}

TEST_CASE("long series are joined until the page stays small, and nothing gets lost") {
    Summary summary;
    summary.recipe = "r";
    const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g"};
    summary.series = Series(names.size());
    std::vector<table::Histogram> whole(names.size());
    for (int i = 0; i < 251 * 13; ++i) {
        auto& block = summary.series.at(start + i * 77'000'000LL);
        for (std::size_t stage = 0; stage < names.size(); ++stage) {
            block.stages[stage].add(1'000'003 + i);
            whole[stage].add(1'000'003 + i);
        }
    }
    for (std::size_t stage = 0; stage < names.size(); ++stage)
        summary.stages.push_back({names[stage], {}, whole[stage]});
    REQUIRE(summary.series.blocks().size() == 252);
    const auto page = body_of(page_of(summary));
    const std::string table = page.substr(page.find("data-chart=\"time\" data-stage=\"g\""));
    const auto rows = table.substr(0, table.find("</table>"));
    CHECK(times(rows, "<tr>") == 127);  // the heading, and 252 s in blocks of 2 s
    CHECK(has(page, "Numbers, in blocks of 2 s"));
    std::int64_t n = 0;
    const std::regex cells(R"(<tr>(?:<td[^>]*>[^<]*</td>){2}<td[^>]*>([0-9]+)</td>)");
    for (std::sregex_iterator match(rows.begin(), rows.end(), cells), end; match != end; ++match)
        n += std::stoll((*match)[1].str());
    CHECK(n == 251 * 13);
    CHECK(page_of(summary).size() < 300'000);
}

TEST_CASE("the bins of the distribution hold all values, none narrower than what was measured with") {
    Summary summary;
    summary.recipe = "r";
    summary.resolution_ns = 1000;
    table::Histogram stats;
    for (int us = 0; us < 307; ++us)
        stats.add(us * 1000);
    stats.add(table::bins::largest + 1);
    summary.stages = {{"a", {}, stats}};
    const auto page = body_of(page_of(summary));
    const std::string table = page.substr(page.find("data-chart=\"distribution\""));
    const std::regex row(
        R"(<tr><td class="n">([0-9.]+)</td><td class="n">([0-9.-]+)</td><td class="n">([0-9]+)</td></tr>)");
    double last_end = 0;
    std::int64_t rows = 0;
    for (std::sregex_iterator match(table.begin(), table.end(), row), end; match != end; ++match, ++rows) {
        if ((*match)[2].str() == "-") {
            CHECK((*match)[3].str() == "1");
            continue;
        }
        const auto from = std::stod((*match)[1].str()), to = std::stod((*match)[2].str());
        CHECK(from == last_end);
        last_end = to;
        // Values are 0 to 306 us: of those in [from, to) there are so many.
        CHECK(std::stoi((*match)[3].str()) == static_cast<int>(std::min(to, 307.0) - from));
    }
    CHECK(last_end >= 307);
    CHECK(rows > 37);
    CHECK(rows < 67);
}

TEST_CASE("a table that the input makes long is cut, and says so") {
    auto summary = drops();
    const auto drop = summary.drops[0];
    for (int i = 0; i < 997; ++i) {
        summary.drops.push_back(drop);
        summary.drops.back().place.address = 0xffffffff9b000000 + static_cast<std::uint64_t>(i);
    }
    const auto page = page_of(summary);
    CHECK(has(page, "and 499 more rows"));  // 999 places
    CHECK(has(page, "and 500 more rows"));  // 1000 of them by interval
    CHECK(page.size() < 250'000);
}

TEST_CASE("benign drops are marked, have their advice, and are counted where they are not shown") {
    const auto summary = drops();
    const auto page = body_of(page_of(summary));
    CHECK(has(page, "data-mark=\"benign\" title=\"an echo reply; a ping with a raw socket"));
    CHECK(has(page, ">NO_SOCKET *<"));
    CHECK(has(page, "*: part of normal operation"));
    CHECK(has(page, ">NO_SOCKET in icmp_rcv<"));
    const auto out = written("html", {summary}, {.hide_benign = true});
    const auto rest = body_of(out);
    CHECK_FALSE(has(rest, "icmp_rcv"));
    CHECK_FALSE(has(rest, "*: part"));
    CHECK(has(rest, "total: 3312 drops at 2 places and reasons"));
    CHECK(has(rest, "1104 drops at 1 benign place not shown"));
}

TEST_CASE("averages are shown with what they may be off by") {
    Summary summary;
    summary.recipe = "tracker";
    summary.averages = {{"rx", true, 211, 3021.25, 499.5}, {"requests", false, 211, 7.25, 0}};
    summary.average_intervals = {{13, 103, {{"rx", true, 103, 3100.5, 501.5}}}};
    const auto page = body_of(page_of(summary));
    for (const auto* text :
         {"rx [us]", ">3.021 us<", ">0.499 us<", ">7.250<", ">13<", ">103<", "off by 0.501 at most", ">3.100<"})
        CHECK_MESSAGE(has(page, text), text);
}

TEST_CASE("a comparison shows both runs, each change with its interval, and the verdict in words") {
    auto before = packets();
    auto after = packets();
    after.recipe = "net-latency";
    stapgen::study::Comparison comparison;
    comparison.recipe = "net-latency";
    comparison.warnings = {"after: 3 records were lost"};
    comparison.threshold = 0.05;
    comparison.before = {1, 11, 1'000'000'000};
    comparison.after = {1, 13, 1'000'000'000};
    comparison.changes = {
        {"drv-ip", "99", 1009, 1013, 4001.0, 4401.0, 0.1, 0.07, 0.13, 0.0004, stapgen::study::Verdict::slower},
        {"drv-ip", "mean", 1009, 1013, 4001.0, 3601.0, -0.1, -0.13, -0.07, 0.002, stapgen::study::Verdict::faster},
        {"qdisc", "50", 1009, 1013, 4001.0, 4001.0, 0.0, -0.01, 0.01, 0.83, stapgen::study::Verdict::same},
        {"qdisc", "99.9", 1009, 1013, {}, {}, {}, {}, {}, {}, stapgen::study::Verdict::too_few}};
    before.origins = {{"web17", "", {}}};
    after.origins = {{"web19", "", {}}};
    const auto out = written("html", comparison, before, after);
    const auto page = body_of(out);
    for (const auto* text :
         {"+7.0 % to +13.0 %", "-13.0 % to -7.0 %", "slower", "faster", ">~<", "too few", "&lt;0.001", "0.830", "P99.9",
          "drv-ip is slower: p99 +10.0 %", "WARNING:</strong> after: 3 records were lost", "up to 5 % is no regression",
          "Before: 11 blocks of 1.00 s", "before: web17", "after: web19",
          "data-runs=\"r0 r1\" data-names=\"before after\""})
        CHECK_MESSAGE(has(page, text), text);
    CHECK(times(page, "data-runs=") == 2);
    CHECK(times(page, "<article") == 3);
}

TEST_CASE("an empty report is a page, too") {
    Summary summary;
    summary.recipe = "rx-latency";
    const auto page = body_of(page_of(summary));
    CHECK(has(page, "0 seen = 0 reported"));
    CHECK_FALSE(has(page, "nan"));
    CHECK_FALSE(has(page, "class=\"chart\""));
}
