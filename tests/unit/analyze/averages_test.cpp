// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "analyze/analyzer.h"
#include "unit/rows.h"

using namespace stapgen;
using decode::RunningMean;
using kinds::Averages;

namespace {

/// What the script prints of `values` so far.
struct Script {
    std::int64_t sum = 0, count = 0;

    void request(std::int64_t ns) {
        sum += ns;
        ++count;
    }
    void print(Averages& averages, std::int64_t line) const {
        const std::array means{RunningMean{"rx", sum / count},
                               RunningMean{"epoll_return", 1013, RunningMean::Unit::thousandths}};
        averages.add({line, count, means});
    }
};

summaries::Summary summarized(const Averages& averages) {
    kinds::Measured measured;
    averages.put_into(measured);
    return summaries::summary_of(measured);
}

}  // namespace

TEST_CASE("the means of intervals come back from means since the start, within the stated error") {
    std::mt19937 random(31);
    std::exponential_distribution<double> latency(1.0 / 4000);
    Script script;
    Averages averages;
    std::vector<double> truth;
    double sum_of_all = 0;
    for (std::int64_t line = 1; line <= 211; ++line) {
        double sum = 0;
        const auto n = 1 + static_cast<int>(random() % 97);
        for (int i = 0; i < n; ++i) {
            const auto ns = static_cast<std::int64_t>(latency(random));
            script.request(ns);
            sum += static_cast<double>(ns);
        }
        truth.push_back(sum / n);
        sum_of_all += sum;
        script.print(averages, line);
    }
    const auto summary = summarized(averages);
    REQUIRE(summary.average_intervals.size() == truth.size());
    double nearest = 1;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const auto& interval = summary.average_intervals[i];
        REQUIRE(interval.averages.size() == 1);
        CHECK(interval.line == static_cast<std::int64_t>(i) + 1);
        const auto& average = interval.averages[0];
        CHECK(std::abs(average.mean - truth[i]) <= average.error + 1e-6);
        nearest = std::min(nearest, 1 - std::abs(average.mean - truth[i]) / (average.error + 1e-6));
    }
    CHECK(nearest < 0.2);  // the error is no more than it has to be
    REQUIRE(summary.averages.size() == 2);
    CHECK(summary.averages[0].n == script.count);
    CHECK(std::abs(summary.averages[0].mean - sum_of_all / static_cast<double>(script.count)) <= 0.5);
    CHECK(summary.averages[1].mean == doctest::Approx(1.013));
    CHECK_FALSE(summary.averages[1].is_time);
}

TEST_CASE("the first interval has no error where one request is all there was") {
    Script script;
    script.request(4711);
    Averages averages;
    script.print(averages, 1);
    script.print(averages, 2);
    const auto summary = summarized(averages);
    REQUIRE(summary.average_intervals.size() == 2);
    CHECK(summary.average_intervals[0].averages[0].mean == 4711);
    CHECK(summary.average_intervals[0].averages[0].error == 0);
    CHECK(summary.average_intervals[1].n == 0);
    CHECK(summary.average_intervals[1].averages.empty());
}

TEST_CASE("a count or a sum that falls is a new start") {
    Averages averages;
    const auto print = [&](std::int64_t line, std::int64_t mean, std::int64_t count) {
        const std::array means{RunningMean{"rx", mean}};
        averages.add({line, count, means});
    };
    print(1, 1000, 101);
    print(2, 3000, 31);  // fewer than before
    print(3, 500, 61);   // more, but their sum is less than that of line 2
    const auto summary = summarized(averages);
    REQUIRE(summary.average_intervals.size() == 3);
    CHECK(summary.average_intervals[1].n == 31);
    CHECK(summary.average_intervals[2].n == 61);
    CHECK(summary.average_intervals[2].averages[0].mean == doctest::Approx(500.0).epsilon(0.01));
    REQUIRE(summary.averages.size() == 1);
    CHECK(summary.averages[0].n == 193);
    CHECK(summary.averages[0].mean == doctest::Approx((1000.0 * 101 + 3000.0 * 31 + 500.0 * 61) / 193).epsilon(0.001));
    CHECK(summary.notes == std::vector<kinds::Note>{{"the script was started 3 times", kinds::NoteKind::count}});
}

TEST_CASE("however many lines there are, memory does not grow, and no request is forgotten") {
    Averages averages;
    Script script;
    constexpr std::int64_t lines = 30'011;
    for (std::int64_t line = 1; line <= lines; ++line) {
        script.request(line % 1009);
        script.request(17);
        script.print(averages, line);
    }
    const auto summary = summarized(averages);
    CHECK(summary.average_intervals.size() <= Averages::max_intervals);
    CHECK(summary.average_intervals.size() >= Averages::max_intervals / 2);
    std::int64_t n = 0;
    for (const auto& interval : summary.average_intervals)
        n += interval.n;
    CHECK(n == 2 * lines);
    CHECK(summary.averages[0].n == 2 * lines);
    CHECK(summary.notes == std::vector<kinds::Note>{{"an interval is that of 16 lines", kinds::NoteKind::count}});
}

TEST_CASE("a script that starts anew with every line is bounded, too") {
    Averages averages;
    constexpr std::int64_t lines = 9'973;
    for (std::int64_t line = 1; line <= lines; ++line) {
        const std::array means{RunningMean{"rx", 100}};
        averages.add({line, lines - line + 1, means});
    }
    const auto summary = summarized(averages);
    CHECK(summary.average_intervals.size() <= Averages::max_intervals);
    CHECK(summary.averages[0].n == lines * (lines + 1) / 2);
    CHECK(summary.averages[0].mean == doctest::Approx(100.5));
    CHECK(summary.notes.size() == 3);
}

TEST_CASE("numbers at the edge of what fits are no trouble") {
    constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
    Averages averages;
    for (const auto value : {most, least, most, std::int64_t{0}}) {
        const std::array means{RunningMean{"rx", value}};
        averages.add({1, most, means});
    }
    CHECK(summarized(averages).averages[0].n == most);
}

TEST_CASE("the analyzer hands running means on, and an end without a time is an end") {
    decode::Header header;
    header.recipe = "memcached-tracker";
    header.schemas.push_back({"requests", 0, {}});
    auto analyzer = analyze::Analyzer::create(header);
    REQUIRE(analyzer);
    const std::array means{RunningMean{"rx", 23}};
    analyzer->add(decode::Line(decode::RunningMeans{1, 7, means}));
    analyzer->add(decode::Line(decode::End{decode::unknown_time, {}}));
    const auto summary = summaries::summary_of(analyzer->measured());
    REQUIRE(summary.averages.size() == 1);
    CHECK(summary.averages[0].n == 7);
    CHECK(summary.accounting.closed);
    REQUIRE(summary.intervals.size() == 1);
    CHECK_FALSE(summary.intervals[0].end);
    CHECK_FALSE(summary.end_epoch_ns);
}
