// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <map>

#include "has.h"
#include "show/html/html_scale.h"
#include "show/html/html_sections.h"
#include "unit/rows.h"

using namespace stapgen;
using namespace stapgen::summaries;
using namespace stapgen::show;
using namespace stapgen::show::html;

namespace {

constexpr std::int64_t ms = 1'000'000, second = 1000 * ms;

/// One stage, with 13 values of 4 us in each of 16 blocks, and 7 of 4 ms in the sixth.
Summary a_burst() {
    Summary summary;
    summary.recipe = "r";
    summary.series = Series(1);
    table::Histogram whole;
    for (std::int64_t block = 0; block < 16; ++block) {
        for (int i = 0; i < 13; ++i)
            summary.series.at(block * second / 128 + i).stages[0].add(4000), whole.add(4000);
        for (int i = 0; block == 5 && i < 7; ++i)
            summary.series.at(block * second / 128 + i).stages[0].add(4'000'000), whole.add(4'000'000);
    }
    summary.stages = {{"drv-ip", {}, whole}};
    return summary;
}

std::map<std::string, std::string> shapes_of(const Plot& plot) {
    std::map<std::string, std::string> shapes;
    for (const auto& shape : plot.shapes)
        shapes[shape.look] = shape.path;
    return shapes;
}

std::vector<std::string> texts_of(const std::vector<Tick>& ticks) {
    std::vector<std::string> texts;
    for (const auto& tick : ticks)
        texts.push_back(tick.text);
    return texts;
}

}  // namespace

TEST_CASE("a burst is one cell of a heatmap: its column, its row, its shade") {
    const auto plots = heatmaps_of(results_of(a_burst(), {}));
    REQUIRE(plots.size() == 1);
    const auto& plot = plots[0];
    CHECK(plot.name == "drv-ip");
    CHECK(plot.width == 16);
    // Ten doublings at four rows each.
    CHECK(plot.height == 40);
    CHECK(has(plot.caption, "n 215; a column is 7.81 ms; a cell is darker the more values it has, 13 at most"));
    const auto shapes = shapes_of(plot);
    CHECK(shapes.at("h8") == "M0 39.5h16");
    CHECK(shapes.at("h6") == "M5 0.5h1");  // log 7 / log 13 is 0.76 of the seven steps
    // P50, of at least 6 values, is 4 us in each column.
    CHECK(has(shapes.at("line c3"), "M0 40h1L1 40h1"));
    CHECK_FALSE(shapes.contains("line c4"));
    CHECK(texts_of(plot.x) == std::vector<std::string>{"0", "50 ms", "100 ms"});
}

TEST_CASE("the moment of a condition is a line, and what is compared with the time before is shaded") {
    auto results = results_of(a_burst(), {});
    // Sixteen columns of 7.81 ms: the fifth and a half, from the fourth to the end of the sixth.
    results.of<rows::Kept>().push_back({.condition = "drv-ip max > 1ms over 10ms",
                                        .at = 11 * second / 256,
                                        .moment_before_ns = 3 * second / 256,
                                        .moment_after_ns = second / 256});
    auto plot = heatmaps_of(results).at(0);
    CHECK(plot.shapes.front().look == "window");
    CHECK(plot.shapes.front().path == "M4 0h2v40h-2z");
    CHECK(plot.shapes.back().look == "moment");
    CHECK(plot.shapes.back().path == "M5.5 0V40");
    REQUIRE(plot.marks.size() == 1);
    CHECK(plot.marks[0].at == doctest::Approx(5.5 / 16));
    CHECK(plot.marks[0].text.ends_with(":00 drv-ip max > 1ms over 10ms"));
    // Beyond the picture there is no mark, and what begins before it is shaded from its edge on.
    auto& kept = results.of<rows::Kept>().front();
    for (const std::int64_t at : {-second, second}) {
        kept.at = at;
        plot = heatmaps_of(results).at(0);
        CHECK(plot.marks.empty());
        CHECK_FALSE(has(plot.caption, "the line is the moment"));
    }
    kept.at = second / 128;
    CHECK(heatmaps_of(results).at(0).shapes.front().path == "M0 0h1.5v40h-1.5z");
    // Of two only the times: their texts would lie upon each other.
    results.of<rows::Kept>().push_back(kept);
    plot = heatmaps_of(results).at(0);
    REQUIRE(plot.marks.size() == 2);
    CHECK(plot.marks[0].text.size() == 8);
}

TEST_CASE("a moment between two recordings has no place") {
    auto summary = a_burst(), later = a_burst();
    later.series.shift(1000 * second);
    summary.series += later.series;
    auto results = results_of(summary, {});
    results.of<rows::Kept>().push_back({.condition = "SIGUSR1", .at = 500 * second});
    CHECK(heatmaps_of(results).at(0).marks.empty());
    results.of<rows::Kept>().front().at = 1000 * second + second / 128;
    CHECK(heatmaps_of(results).at(0).marks.at(0).at == doctest::Approx(18.0 / 33));
}

TEST_CASE("time between recordings is one empty column") {
    auto summary = a_burst(), later = a_burst();
    later.series.shift(1000 * second);
    summary.series += later.series;
    const auto plots = heatmaps_of(results_of(summary, {}));
    REQUIRE(plots.size() == 1);
    CHECK(plots[0].width == 16 + 1 + 16);
    CHECK(shapes_of(plots[0]).at("gap") == "M16 0h1v40h-1z");
    CHECK(shapes_of(plots[0]).at("h8") == "M0 39.5h16m1 0h16");
    CHECK(texts_of(plots[0].x) == std::vector<std::string>{"0", "16.7 min"});
}

TEST_CASE("recordings of the same time share their columns") {
    auto summary = a_burst();
    summary.series += a_burst().series;
    const auto plots = heatmaps_of(results_of(summary, {}));
    REQUIRE(plots.size() == 1);
    CHECK(plots[0].width == 16);
    CHECK(has(plots[0].caption, "26 at most"));
}

TEST_CASE("there is no heatmap of a few blocks of time") {
    Summary summary;
    summary.series = Series(1);
    table::Histogram whole;
    summary.series.at(0).stages[0].add(1);
    whole.add(1);
    summary.stages = {{"a", {}, whole}};
    CHECK(heatmaps_of(results_of(summary, {})).empty());
    CHECK(heatmaps_of(results_of({}, {})).empty());
}

TEST_CASE("a curve ends at the highest percentile that n allows") {
    Summary summary;
    table::Histogram few, many;
    for (int i = 1; i <= 11; ++i)
        few.add(i * 1000);
    for (int i = 1; i <= 20'011; ++i)
        many.add(i * 1000);
    summary.stages = {{"few", {}, few}, {"many", {}, many}, {"none", {}, {}}};
    const auto plots = distributions_of(results_of(summary, {}));
    REQUIRE(plots.size() == 3);  // and a distribution of each that has values
    CHECK(texts_of(plots[0].x) == std::vector<std::string>{"P50", "P90", "P99", "P99.9"});
    const auto shapes = shapes_of(plots[0]);
    // The last step that eleven values are enough for.
    CHECK(has(shapes.at("line c1"), "L100 0"));
    const auto& last = shapes.at("line c0");
    CHECK(std::stod(last.substr(last.rfind('L') + 1)) < 25);
    CHECK_FALSE(shapes.contains("line c2"));
}

TEST_CASE("equal parts of the values have equal areas, whatever their bins are wide") {
    Summary summary;
    table::Histogram stats;
    for (int i = 0; i < 100; ++i)
        stats.add(1 << 10), stats.add((1 << 14) + (1 << 13));
    summary.stages = {{"a", {}, stats}};
    const auto plots = distributions_of(results_of(summary, {}));
    REQUIRE(plots.size() == 2);
    CHECK(has(plots[1].caption, "n 200"));
    // Bins of 128 ns from 1024 on and of 2048 ns from 24576 on, on a scale from 1024 to 26624: the first is the wider.
    CHECK(shapes_of(plots[1]).at("area line c0") == "M0.00 100V34.08H3.62V100M97.54 100V3.00H100.00V100");
    CHECK(texts_of(plots[1].x) == std::vector<std::string>{"2 us", "5 us", "10 us"});
}

TEST_CASE("two runs are on one scale, and lines end with the shorter one") {
    auto shorter = a_burst(), longer = a_burst();
    for (auto* summary : {&shorter, &longer}) {
        summary->series = Series(1);
        for (std::int64_t block = 0; block < (summary == &longer ? 9 : 5); ++block)
            for (int i = 0; i < 400; ++i)
                summary->series.at(block * second + i).stages[0].add(block == 3 ? 8000 : 4000);
    }
    const auto plots = lines_of_both(results_of(shorter, {}), results_of(longer, {}), {"drv-ip", "no-such"});
    REQUIRE(plots.size() == 1);
    CHECK(plots[0].width == 9);
    CHECK(plots[0].x_scale == "linear 0 9000000000 ns");
    const auto shapes = shapes_of(plots[0]);
    CHECK(shapes.at("line c0 before").ends_with("L4 9h1"));
    CHECK(shapes.at("line c4").ends_with("L8 9h1"));
    CHECK(lines_of_both(results_of(a_burst(), {}), results_of(longer, {}), {"drv-ip"}).empty());
}

TEST_CASE("a call in an icicle is as wide as it took, at its begin and depth") {
    Summary summary;
    summary.calls = {{1, 1000, 8000, 0, "ip_rcv", "", "softirq", 3, 0, ""},
                     {1, 3000, 2000, 1, "tcp_v4_rcv", "skb", "softirq", 3, 0, ""},
                     {1, 50'000, 400, 0, "tcp_recvmsg", "", "thread", 1, 191, "reader"}};
    const auto results = results_of(summary, {});
    Section section;
    draw(section, section::Calls(), Report{results, {}, 1});
    REQUIRE(section.icicles.size() == 2);
    const auto& softirq = section.icicles[0];
    CHECK(softirq.caption == "packet 1 in softirq on CPU 3: 8.00 us from 0 ns on");
    REQUIRE(softirq.bars.size() == 2);
    CHECK(softirq.depth == 2);
    CHECK(softirq.bars[0].part == 1);
    CHECK(softirq.bars[1].from == 0.25);
    CHECK(softirq.bars[1].part == 0.25);
    CHECK(softirq.bars[1].depth == 1);
    CHECK(softirq.bars[1].title == "tcp_v4_rcv(skb): 2.00 us, from 2.00 us on");
    CHECK(section.icicles[1].caption == "packet 1 in thread 191 reader: 400 ns from 49.0 us on");
    CHECK(section.listings.size() == 1);
}

namespace {

rows::Ledger entry(std::string name, std::int64_t packets, const std::string& of = {}) {
    return {std::move(name), of.empty() ? Group{} : Group{{"of", of}}, packets};
}

std::vector<Stream> flow_of(std::vector<rows::Ledger> ledger, std::vector<rows::Drop> drops = {}) {
    rows::Results results;
    results.put(std::move(ledger));
    results.put(std::move(drops));
    Section section;
    draw(section, section::Ledger(), Report{results, {}, 1});
    return section.flow;
}

/// "-101 unexplained-before": what joins the trunk has no sign, what is below 0 the other.
std::vector<std::string> steps_of(const std::vector<Stream>& flow) {
    std::vector<std::string> steps;
    for (const auto& stream : flow)
        steps.push_back((stream.width > 0 && stream.top < stream.bottom ? "-" : "") + stream.count + ' ' + stream.name);
    return steps;
}

}  // namespace

TEST_CASE("a flow's streams are as wide as their packets, and packets that ended twice join it") {
    const auto flow =
        flow_of({entry("card", 1009, "eth1"), entry("unexplained-before", 101, "eth1"), entry("received", 908, "eth1"),
                 entry("delivered", 701, "udp"), entry("dropped", 307, "way in"), entry("unexplained", -100)});
    CHECK(steps_of(flow) == std::vector<std::string>{"1,009 card", "-101 unexplained-before", "908 received",
                                                     "-100 unexplained", "-307 dropped", "-701 delivered"});
    const auto scale = flow[0].width / 1009;
    CHECK(flow[1].width == doctest::Approx(101 * scale));
    CHECK(flow[1].trunk == doctest::Approx(908 * scale));
    CHECK(flow[1].top == doctest::Approx(908 * scale));
    CHECK(flow[1].bottom == doctest::Approx(1 - 101 * scale));
    CHECK(flow[2].width == 0);
    CHECK(flow[2].trunk == doctest::Approx(908 * scale));
    // The one that joins begins at the edge, and ends beside the trunk.
    CHECK(flow[3].top == doctest::Approx(1 - 100 * scale));
    CHECK(flow[3].bottom == doctest::Approx(908 * scale));
    CHECK(flow[4].trunk == doctest::Approx(701 * scale));
    CHECK(flow[5].trunk == 0);
    CHECK(flow[5].look == "kept");
    CHECK(flow[4].look == "lost");
    CHECK(flow[3].look == "unknown");
}

TEST_CASE("a loss of one packet in a million is seen, no entry of none is, and what does not add up is said") {
    const auto flow = flow_of({entry("received", 1'000'003, "eth0"), entry("delivered", 999'983, "tcp"),
                               entry("dropped", 1, "tcp"), entry("listen-queue", 0, "syn"), entry("unexplained", 0)});
    CHECK(steps_of(flow) == std::vector<std::string>{"1,000,003 received", "1,000,003 received", "-1 dropped",
                                                     "-999,983 delivered", "-19 rest"});
    CHECK(flow[2].width == 0.01);
    CHECK(flow[4].note == "the ledger does not add up");
    CHECK(steps_of(flow_of({entry("received", 5, "eth0"), entry("delivered", INT64_MAX, "tcp")})).size() == 4);
}

TEST_CASE("of more streams than anybody reads there is the table only") {
    std::vector<rows::Ledger> ledger;
    for (int i = 0; i < 211; ++i)
        ledger.push_back(entry("received", 2, std::to_string(i)));
    CHECK(flow_of(ledger).empty());
    ledger.resize(101);
    CHECK(flow_of(ledger).size() == 103);  // and all together, and that the rows do not add up
}

TEST_CASE("losses of a step have their places, and what the ledger has more of is at others") {
    rows::Drop drop{.place = {}, .reason = {}, .group = {{"step", std::string("udp")}}, .count = 5};
    auto larger = drop, other = drop, benign = drop;
    larger.count = 7;
    larger.advice = "read faster";
    other.group[0].value = std::string("way in");
    benign.benign = true;
    const auto flow =
        flow_of({entry("received", 23, "eth0"), entry("delivered", 8, "udp"), entry("dropped", 15, "udp")},
                {drop, larger, other, benign});
    CHECK(steps_of(flow) == std::vector<std::string>{"23 received", "23 received", "-7 dropped", "-5 dropped",
                                                     "-3 dropped", "-8 delivered"});
    CHECK(flow[2].note.ends_with(": read faster"));
    CHECK(flow[4].note == "at other places: see below");
}

TEST_CASE("a bar is divided by parts that fit into their stage, and by what is left of it") {
    rows::Results results;
    results.put(
        std::vector<rows::Way>{{.number = 0, .way = "rx", .n = 2, .stages = {{"ip-tcp", 11}, {"tcp-app", 89}}}});
    table::Histogram waited, larger;
    waited.add(53);
    larger.add(97);
    std::vector<rows::Stage> stages{
        {.stage = "tcp-app.asleep", .distribution = waited, .part_of = "tcp-app", .cause = "asleep"}};
    results.put(stages);
    const auto widths_of = [&] {
        std::map<std::string, double> widths;
        const auto stacks = stacks_of(results, coloured_stages(results));
        for (const auto& segment : stacks.at(0).segments)
            widths[segment.name.substr(0, segment.name.find(' '))] = segment.part;
        return widths;
    };
    CHECK(widths_of() == std::map<std::string, double>{{"ip-tcp", 0.11}, {"tcp-app.asleep", 0.53}, {"tcp-app,", 0.36}});
    stages[0].distribution = larger;
    results.put(stages);
    CHECK(widths_of() == std::map<std::string, double>{{"ip-tcp", 0.11}, {"tcp-app", 0.89}});
}

TEST_CASE("marks of scales are round and few") {
    CHECK(texts_of(LogScale(900, 2'000'000'000).ticks(4)) == std::vector<std::string>{"1 us", "100 us", "10 ms"});
    CHECK(texts_of(LogScale(900, 9000).ticks(6)) == std::vector<std::string>{"1 us", "2 us", "5 us"});
    CHECK(texts_of(linear_ticks(7'000'000, true)) == std::vector<std::string>{"0", "2 ms", "4 ms"});
    CHECK(texts_of(linear_ticks(31, false)) == std::vector<std::string>{"0", "10", "20"});
    const TimeColumns hours({{0, 3600 * second}, {3600 * second, 7200 * second}, {7200 * second, 10'800 * second}});
    CHECK(hours.count() == 3);
    CHECK(hours.gaps().empty());
    CHECK(texts_of(hours.ticks()) == std::vector<std::string>{"0", "60 min", "2 h"});
}
