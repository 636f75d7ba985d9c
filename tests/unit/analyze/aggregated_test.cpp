// SPDX-License-Identifier: GPL-2.0-or-later
#include "aggregated.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "analyze/merge.h"
#include "summary_of.h"
#include "table/histogram.h"
#include "unit/compared.h"

using namespace stapgen;
using namespace stapgen::analyze;
using namespace stapgen::summaries;
using kernel::Record;

namespace {

/// `intervals`: each of them as it is closed.
Summary net_summary(std::string_view text, std::vector<Summary>* intervals = nullptr, std::size_t slowest = 3) {
    stapgen::decode::RecordParser parser;
    std::optional<Analyzer> analyzer;
    for (const auto line : stapgen::base::split(text.substr(0, text.size() - 1), '\n')) {
        const auto parsed = parser.feed(line);
        if (!analyzer) {
            analyzer = Analyzer::create(*parser.header(),
                                        {.group_by = {}, .slowest = slowest, .keep_intervals = intervals != nullptr})
                           .value();
        }
        analyzer->add(parsed);
        if (intervals == nullptr) continue;
        if (auto closed = analyzer->take_interval()) intervals->push_back(stapgen::summaries::summary_of(*closed));
    }
    CHECK(parser.input().unrecognised == 0);
    return stapgen::summaries::summary_of(analyzer->measured());
}

/// Of two directions, with stages not seen, values that are negative, and stages too long for the bins.
std::vector<Record> records_of(std::uint64_t seed, std::size_t n, std::int64_t length_ns) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> short_time(std::log(3000.0), 1.3), long_time(std::log(170'000.0), 1.7);
    std::uniform_int_distribution<std::int64_t> time(0, length_ns - 1), queued(-7, 1009);
    std::vector<Record> records(n);
    for (auto& record : records) {
        record.time_ns = time(random);
        record.direction = random() % 3 == 0 ? "tx" : "rx";
        if (random() % 11 != 0) record.driver = static_cast<std::int64_t>(short_time(random));
        if (!record.driver || random() % 13 != 0) record.app = static_cast<std::int64_t>(long_time(random));
        if (random() % 5 == 0) record.queued = queued(random);
        if (random() % 1009 == 0) record.app = kernel::largest + static_cast<std::int64_t>(random() % 1'000'003);
    }
    std::ranges::sort(records, {}, &Record::time_ns);
    if (!records.empty()) records.front().time_ns = 0;
    return records;
}

std::vector<std::int64_t> random_ticks(std::uint64_t seed, std::int64_t length_ns) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<std::int64_t> length(1'000'003, 1'700'000'009);
    std::vector<std::int64_t> ticks;
    for (auto at = length(random); at < length_ns; at += length(random))
        ticks.push_back(at);
    return ticks;
}

std::vector<std::pair<int, std::int64_t>> bins_of(const table::Histogram& histogram) {
    std::vector<std::pair<int, std::int64_t>> bins;
    histogram.for_each_bin([&](int bin, std::int64_t count) { bins.emplace_back(bin, count); });
    return bins;
}

/// Half a bin's part of the root of the mean square.
double allowed_in_sd(const table::Histogram& histogram) {
    const auto mean = histogram.mean().value_or(0), sd = histogram.stddev().value_or(0);
    return std::sqrt(mean * mean + sd * sd) / 512 + 1e-3;
}

void check_same(const table::Histogram& single, const table::Histogram& aggregated, bool outside_known = true) {
    CHECK(single.n() == aggregated.n());
    CHECK(single.min() == aggregated.min());
    CHECK(single.max() == aggregated.max());
    CHECK(single.sum() == aggregated.sum());
    CHECK(single.mean() == aggregated.mean());
    CHECK(bins_of(single) == bins_of(aggregated));
    CHECK(single.above() == aggregated.above());
    CHECK(single.below() == aggregated.below());
    for (const double percent : {1.0, 25.0, 50.0, 90.0, 99.0, 99.9})
        CHECK(single.percentile(percent) == aggregated.percentile(percent));
    if (!outside_known || single.n() < 2) return;
    CHECK(std::abs(*single.stddev() - *aggregated.stddev()) <= allowed_in_sd(single));
}

void check_same(const std::vector<Measure>& single, const std::vector<Measure>& aggregated) {
    REQUIRE(single.size() == aggregated.size());
    for (std::size_t i = 0; i < single.size(); ++i) {
        CHECK(single[i].name == aggregated[i].name);
        CHECK(aggregated[i].group.empty());
        check_same(single[i].stats, aggregated[i].stats, single[i].stats.above() + single[i].stats.below() == 0);
    }
}

void check_same(const std::vector<Cause>& a, const std::vector<Cause>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        CHECK((a[i].name == b[i].name && a[i].count == b[i].count));
}

void check_same(const Accounting& a, const Accounting& b) {
    CHECK(a.seen == b.seen);
    CHECK(a.reported == b.reported);
    CHECK(a.filtered == b.filtered);
    check_same(a.incomplete, b.incomplete);
    check_same(a.lost, b.lost);
    check_same(a.other, b.other);
    CHECK(a.closed == b.closed);
    CHECK(a.unaccounted() == b.unaccounted());
}

const Breakdown& breakdown_of(const Summary& summary, std::string_view direction) {
    const auto found = std::ranges::find(summary.breakdowns, direction, &Breakdown::direction);
    REQUIRE(found != summary.breakdowns.end());
    return *found;
}

}  // namespace

TEST_CASE("aggregated in the kernel, whatever the intervals, the numbers are those of single records") {
    for (std::uint64_t seed = 1; seed <= 7; ++seed) {
        CAPTURE(seed);
        const auto length = 11 * second;
        const auto records = records_of(seed, 1009 * seed, length);
        const auto ticks = random_ticks(seed, length);
        std::vector<Summary> single_intervals, intervals;
        const auto single = net_summary(kernel::printed(records, ticks, length), &single_intervals);
        const auto aggregated = net_summary(kernel::aggregated(records, ticks, length), &intervals);
        check_same(single.stages, aggregated.stages);
        check_same(single.values, aggregated.values);
        check_same(single.accounting, aggregated.accounting);
        CHECK(single.aggregated == 0);
        CHECK(aggregated.aggregated == std::ssize(records));
        CHECK(aggregated.start_epoch_ns == single.start_epoch_ns);
        CHECK(aggregated.end_epoch_ns == single.end_epoch_ns);
        REQUIRE(intervals.size() == single_intervals.size());
        REQUIRE(intervals.size() > 3);
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            check_same(single_intervals[i].stages, intervals[i].stages);
            check_same(single_intervals[i].values, intervals[i].values);
            check_same(single_intervals[i].accounting, intervals[i].accounting);
        }
    }
}

TEST_CASE("the tail of aggregated records is that of the records above a bin of the totals") {
    const auto records = records_of(17, 20'011, 7 * second);
    const auto ticks = random_ticks(17, 7 * second);
    const auto summary = net_summary(kernel::aggregated(records, ticks, 7 * second));
    const auto single = net_summary(kernel::printed(records, ticks, 7 * second));
    for (const auto* direction : {"rx", "tx"}) {
        const auto tail = breakdown_of(summary, direction).tail(99), exact = breakdown_of(single, direction).tail(99);
        REQUIRE(tail);
        REQUIRE(exact);
        const auto threshold = static_cast<double>(exact->threshold_ns);
        CHECK(std::abs(static_cast<double>(tail->threshold_ns) - threshold) <= threshold / 32);
        std::int64_t n_slow = 0, n_rest = 0;
        double driver = 0, app = 0;
        for (const auto& record : records) {
            if (record.direction != direction) continue;
            const bool slow = kernel::bin_of(record.total(), 5) > kernel::bin_of(tail->threshold_ns, 5);
            ++(slow ? n_slow : n_rest);
            if (!slow) continue;
            driver += static_cast<double>(record.driver.value_or(0));
            app += static_cast<double>(record.app.value_or(0));
        }
        CHECK(tail->n_slow == n_slow);
        CHECK(tail->n_rest == n_rest);
        CHECK(tail->shares[0].slow_mean_ns == doctest::Approx(driver / static_cast<double>(n_slow)));
        CHECK(tail->shares[1].slow_mean_ns == doctest::Approx(app / static_cast<double>(n_slow)));
        CHECK(breakdown_of(summary, direction).sum_ns(0) == breakdown_of(single, direction).sum_ns(0));
        CHECK(breakdown_of(summary, direction).sum_ns(1) == breakdown_of(single, direction).sum_ns(1));
    }
}

TEST_CASE("the slowest come from the lines that name them, each once") {
    const auto records = records_of(23, 5003, 5 * second);
    const auto ticks = random_ticks(23, 5 * second);
    auto text = kernel::aggregated(records, ticks, 5 * second, 7);
    const auto single = net_summary(kernel::printed(records, ticks, 5 * second));
    for (const auto* direction : {"rx", "tx"})
        CHECK(breakdown_of(net_summary(text), direction).slowest() == breakdown_of(single, direction).slowest());
    const auto last = text.rfind("slow\t");
    const auto again = text.substr(last, text.find('\n', last) + 1 - last);
    text.insert(last, again);
    const auto repeated = net_summary(text);
    CHECK(repeated.stages[0].stats.n() == single.stages[0].stats.n());
    for (const auto* direction : {"rx", "tx"})
        CHECK(breakdown_of(repeated, direction).slowest() == breakdown_of(single, direction).slowest());
}

TEST_CASE("where intervals are blocks of time the series is that of single records") {
    const auto records = records_of(29, 9001, 13 * second);
    std::vector<std::int64_t> ticks;
    for (std::int64_t at = second; at < 13 * second; at += second)
        ticks.push_back(at);
    const auto single = net_summary(kernel::printed(records, ticks, 13 * second)).series.by_second();
    const auto aggregated = net_summary(kernel::aggregated(records, ticks, 13 * second)).series.by_second();
    CHECK(aggregated.block_ns() == single.block_ns());
    REQUIRE(aggregated.blocks().size() == single.blocks().size());
    for (std::size_t i = 0; i < single.blocks().size(); ++i) {
        const auto &one = single.blocks()[i], &other = aggregated.blocks()[i];
        CHECK(one.start_ns == other.start_ns);
        for (std::size_t stage = 0; stage < one.stages.size(); ++stage)
            check_same(one.stages[stage], other.stages[stage], false);
        check_same(one.values[0], other.values[0], false);
    }
}

TEST_CASE("blocks of time are as long as intervals are usually, and one that is late does not change them") {
    const auto blocks = [](std::vector<std::int64_t> ticks, std::int64_t end) {
        return net_summary(kernel::aggregated(records_of(31, 3001, end), ticks, end)).series;
    };
    const auto tens = blocks({10 * second, 20 * second, 30 * second, 40 * second, 50 * second}, 51 * second);
    CHECK(tens.block_ns() == 16 * second);
    for (const auto& block : tens.blocks())
        CHECK(block.stages[0].n() > 0);
    const auto late = blocks({second, 2 * second, 7 * second, 8 * second, 9 * second}, 10 * second);
    CHECK(late.block_ns() == second);
    const auto quarters = blocks({250'000'000, 500'000'000, 750'000'000, second}, 2 * second);
    CHECK(quarters.block_ns() == second / 4);
    CHECK(quarters.by_second().blocks().size() == 2);
}

TEST_CASE("a line that was lost on its way is reported, and the rest counts") {
    const auto records = records_of(37, 2003, 3 * second);
    const auto whole = kernel::aggregated(records, {second, 2 * second}, 3 * second);
    const auto without = [&](std::string_view begin) {
        auto text = whole;
        const auto at = text.find(begin);
        REQUIRE(at != std::string::npos);
        const auto line = text.substr(at, text.find('\n', at) + 1 - at);
        text.erase(at, line.size());
        return std::pair(net_summary(text), line);
    };
    const auto [no_split, split] = without("split\tnet\trx");
    const auto n = stapgen::base::to_int(stapgen::base::split(split, '\t')[4]).value();
    CHECK(n > 0);
    CHECK(no_split.accounting.lost_total() == n);
    CHECK(no_split.accounting.reported == 2003 - n);
    CHECK(no_split.accounting.unaccounted() == 0);
    CHECK_FALSE(is_whole(no_split));

    const auto [no_bins, bins] = without("bin\tnet\tqueued");
    CHECK(no_bins.accounting.lost_total() > 0);
    CHECK(no_bins.accounting.unaccounted() == 0);
    CHECK(no_bins.values[0].stats.n() < net_summary(whole).values[0].stats.n());
    CHECK(no_bins.stages[0].stats.n() == net_summary(whole).stages[0].stats.n());

    // Its values are known by their bins all the same, those that are outside of them are not.
    const auto [no_sum, sum] = without("sum\tnet\tapp");
    CHECK(no_sum.accounting.lost_total() == 0);
    CHECK(no_sum.stages[1].stats.percentile(50) == net_summary(whole).stages[1].stats.percentile(50));
}

TEST_CASE("an interval whose tick did not come is none") {
    const auto records = records_of(41, 2003, 3 * second);
    auto text = kernel::aggregated(records, {second, 2 * second}, 3 * second);
    text.erase(text.rfind("end\t"));
    const auto summary = net_summary(text);
    const auto before = static_cast<std::int64_t>(
        std::ranges::count_if(records, [](const Record& record) { return record.time_ns < 2 * second; }));
    CHECK(summary.accounting.reported == before);
    CHECK(summary.accounting.lost_total() == 0);
    CHECK_FALSE(summary.accounting.closed);
    CHECK(summary.aggregated == before);
    std::int64_t apps = 0;
    for (const auto& record : records)
        apps += record.time_ns < 2 * second && record.app ? 1 : 0;
    CHECK(summary.stages[1].stats.n() == apps);
}

TEST_CASE("a recipe with a stage of that name has its total there, and parts from the others") {
    const auto summary = net_summary(
        "stapgen\t4\tmine\tm\tapp:stage\ttotal:stage\n"
        "bin\tm\tapp\t3:2\nsum\tm\tapp\t2\t6\t3\t3\nbin\tm\ttotal\t10:2\nsum\tm\ttotal\t2\t20\t10\t10\n"
        "slow\tm\t3\t10\nsplit\tm\t-\t10\t2\t6\ntick\t1000\tseen=2\treported=2\nend\t2000\tseen=2\treported=2\n");
    REQUIRE(summary.breakdowns.size() == 1);
    CHECK(summary.breakdowns[0].stages() == std::vector<std::string>{"app"});
    CHECK(summary.breakdowns[0].total().n() == 2);
    CHECK(summary.breakdowns[0].total().sum() == 20);
    REQUIRE(summary.breakdowns[0].slowest().size() == 1);
    CHECK(summary.breakdowns[0].slowest()[0].total_ns == 10);
    CHECK(summary.stages[1].stats.sum() == 20);
    CHECK(summary.accounting.unaccounted() == 0);
}

TEST_CASE("groups have what came as single records, the whole has all") {
    const auto summary = [] {
        stapgen::decode::RecordParser parser;
        parser.feed("stapgen\t4\tmine\tm\tpid:int\tapp:stage");
        auto analyzer = Analyzer::create(*parser.header(), {.group_by = {"pid"}}).value();
        for (const auto* line : {"m\t17\t1009", "bin\tm\tapp\t10:2", "sum\tm\tapp\t2\t20\t10\t10",
                                 "split\tm\t-\t10\t2\t20", "end\t2000\tseen=3\treported=3"})
            analyzer.add(parser.feed(line));
        return stapgen::summaries::summary_of(analyzer.measured());
    }();
    REQUIRE(summary.stages.size() == 2);
    CHECK(summary.stages[0].group.empty());
    CHECK(summary.stages[0].stats.n() == 3);
    CHECK(summary.stages[1].stats.n() == 1);
    CHECK(summary.aggregated == 2);
    CHECK(summary.accounting.reported == 3);
}

TEST_CASE("an aggregated recording is merged and compared with one of single records") {
    const auto length = 40 * second;
    std::vector<std::int64_t> ticks;
    for (std::int64_t at = second; at < length; at += second)
        ticks.push_back(at);
    const auto records = records_of(43, 20'011, length);
    auto slower = records;
    for (auto& record : slower)
        if (record.app) *record.app += 100'000;
    const auto single = net_summary(kernel::printed(records, ticks, length));
    const auto aggregated = net_summary(kernel::aggregated(records, ticks, length));
    const auto slower_single = net_summary(kernel::printed(slower, ticks, length));
    const auto slower_aggregated = net_summary(kernel::aggregated(slower, ticks, length));

    auto merged = single, of_singles = single;
    REQUIRE(merge(merged, slower_aggregated));
    REQUIRE(merge(of_singles, slower_single));
    check_same(of_singles.stages, merged.stages);
    CHECK(merged.aggregated == std::ssize(records));
    CHECK(merged.accounting.reported == 2 * std::ssize(records));

    const auto expected = compare(single, slower_single).value();
    for (const auto* before : {&single, &aggregated}) {
        const auto found = compare(*before, slower_aggregated).value();
        REQUIRE(found.changes.size() == expected.changes.size());
        for (std::size_t i = 0; i < found.changes.size(); ++i) {
            const auto &one = expected.changes[i], &other = found.changes[i];
            CHECK(other.verdict == one.verdict);
            if (one.verdict == study::Verdict::untested) continue;  // the totals, which are put into coarser bins
            CHECK(other.stage == one.stage);
            CHECK(other.change == one.change);
            CHECK(other.low == one.low);
            CHECK(other.high == one.high);
            CHECK(other.p == one.p);
        }
    }
    CHECK(compare(single, aggregated).value().changes[6].verdict == study::Verdict::same);
    CHECK(expected.changes[6].verdict == study::Verdict::slower);
}

TEST_CASE("numbers too large to add up are left out, and nothing else is") {
    const std::string header = "stapgen\t4\tmine\tm\tapp:stage\n";
    std::string text = header;
    for (int i = 0; i < 5; ++i) {
        text +=
            "bin\tm\tapp\t1009:9223372036854775807\nsum\tm\tapp\t9223372036854775807\t9223372036854775807\t0\t7\n"
            "split\tm\t-\t1887\t9223372036854775807\t9223372036854775807\ntick\t1000\tseen=1\treported=1\n"
            "bin\tm\tapp\t17:281474976710655\n"
            "split\tm\t-\t1887\t281474976710655\t9223372036854775807\ntick\t1000\tseen=1\treported=1\n";
    }
    text += "bin\tm\tapp\t17:1\nsum\tm\tapp\t1\t17\t17\t17\nend\t2000\tseen=1\treported=1\n";
    const auto summary = net_summary(text);
    const auto& stats = summary.stages[0].stats;
    CHECK(stats.n() == table::Histogram::most);
    CHECK(stats.percentile(50) == 17);
    CHECK(stats.confidence(99.9));
    CHECK(stats.max() == 17);
    CHECK(summary.breakdowns[0].total().n() == table::Histogram::most - 1);
}
