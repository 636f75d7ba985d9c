// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <regex>
#include <sstream>

#include "full_summary.h"
#include "has.h"
#include "written.h"

using namespace stapgen;
using namespace stapgen::summaries;

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

std::string page_of(const Summary& summary) {
    return written("html", {summary});
}

Summary drops() {
    Summary summary;
    summary.recipe = "dropwatch";
    summary.counts_drops = true;
    for (int i = 0; i < 3; ++i) {
        Drop drop;
        drop.interval = i;
        drop.time = start + (i + 1) * 5'000'000'000LL;
        drop.place.address = 0xffffffff9a000001;
        drop.count = 1103 + i;
        if (i == 1)
            drop.place.symbol = "icmp_rcv", drop.place.offset = 0x1f, drop.place.module = "icmp_module",
            drop.reason.name = "NO_SOCKET";
        summary.drops.push_back(drop);
        summary.intervals.push_back({i, start + i * 5'000'000'000LL, drop.time});
    }
    summary.accounting = {3312, 3312, 0, {}, {}, {}, true};
    return summary;
}

}  // namespace

TEST_CASE("the page asks nobody for anything") {
    const auto page = page_of(full_summary());
    CHECK(has(page, "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"));
    CHECK_FALSE(has(page, "script-src 'unsafe-inline'"));
    CHECK_FALSE(has(page, " src="));
    CHECK_FALSE(has(page, "<link"));
    CHECK_FALSE(has(page, "@import"));
    CHECK_FALSE(has(page, "url("));
    CHECK(page.size() < 200'000);
}

TEST_CASE("names from the input stay text, whatever they are") {
    const std::string name = "</script><script>x()</script>\"'&\x1b[1m\xff{{css}}";
    const std::string shown = "&lt;/script&gt;&lt;script&gt;x()&lt;/script&gt;&quot;&apos;&amp;\\x1b[1m\\xff{{css}}";
    auto summary = full_summary();
    summary.recipe = name;
    summary.origins = {{name, "", {}}};
    summary.notes = {{name}};
    summary.counters[0].name = summary.counters[0].help = name;
    summary.accounting.lost[0].name = name;
    for (auto& stage : summary.stages)
        if (stage.group.size() > 1) stage.group[1].value = name;
    auto dropped = drops();
    dropped.drops[0].place.symbol = dropped.drops[0].place.module = dropped.drops[0].reason.name = name;
    const auto out = written("html", {summary, dropped});
    const auto page = out;
    CHECK(times(page, "<script>") == 1);
    CHECK(times(page, "</script>") == 1);
    CHECK_FALSE(has(page, name));
    CHECK_FALSE(has(page, "\x1b"));
    CHECK_FALSE(has(page, "\xff"));
    CHECK(times(body_of(page), shown) > 11);
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
    const std::string table = page.substr(page.find("<caption class=\"hidden\">g</caption>"));
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
    const std::string table = page.substr(page.find("<caption class=\"hidden\">Histogram (us)</caption>"));
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
