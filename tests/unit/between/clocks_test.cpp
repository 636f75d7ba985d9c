// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/clocks.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <tuple>

using namespace stapgen::between;

namespace {

/// Two hosts whose clocks differ, and requests that take `forth` and `back` at least.
struct Model {
    std::int64_t offset = 0, forth = 0, back = 0;
    double drift = 0;
    std::mt19937 random{17};

    std::int64_t server_clock(std::int64_t at) const {
        return at + offset + static_cast<std::int64_t>(std::llround(drift * static_cast<double>(at)));
    }
    /// The clocks, from that many requests, 1 ms apart, each way with a further wait.
    std::optional<Clocks> measured(int requests) {
        std::exponential_distribution<double> wait(1.0 / 211'000);
        std::vector<Point> to, from;
        for (int i = 0; i < requests; ++i) {
            const std::int64_t left = i * 1'000'003LL, came = left + forth + static_cast<std::int64_t>(wait(random));
            const auto answered = came + 307'000, arrived = answered + back + static_cast<std::int64_t>(wait(random));
            to.push_back({left, server_clock(came) - left});
            from.push_back({arrived, server_clock(answered) - arrived});
        }
        return clocks_of(lower_hull(to), upper_hull(from));
    }
};

}  // namespace

TEST_CASE("the truth is within the bounds, and the slope is the drift") {
    for (const auto& [offset, forth, back, ppm] : {std::tuple{100'000'000'000LL, 5'000'000LL, 2'000'000LL, 80.0},
                                                   {-3'218'400'000LL, 13'000LL, 17'000LL, -40.0},
                                                   {0LL, 1'000LL, 1'009LL, 0.0},
                                                   {7LL, 30'000LL, 5'000'011LL, 12.1}}) {
        CAPTURE(offset);
        Model model{.offset = offset, .forth = forth, .back = back, .drift = ppm / 1e6};
        const auto clocks = model.measured(10'007);
        REQUIRE(clocks);
        const auto truth = static_cast<double>(model.server_clock(clocks->middle) - clocks->middle);
        CHECK(clocks->lowest.value(clocks->middle) <= truth + 1);
        CHECK(clocks->highest.value(clocks->middle) >= truth - 1);
        CHECK(clocks->drift_error < 1e-6);
        CHECK(clocks->drift * 1e6 == doctest::Approx(ppm).epsilon(0.01).scale(10));
        // As wide as the fastest of both ways together, and little more.
        CHECK(2 * clocks->error() >= static_cast<double>(forth + back) - 1);
        CHECK(2 * clocks->error() < static_cast<double>(forth + back) + 10'000);
    }
}

TEST_CASE("a direction that gets slower is no drift") {
    Model model{.offset = 17'000'000, .forth = 1'000'000, .back = 300'000, .drift = 80e-6};
    std::vector<Point> forth, back;
    for (int i = 0; i < 10'007; ++i) {
        // 1 to 101 ms in 10 s.
        const std::int64_t left = i * 1'000'003LL, came = left + model.forth + i * 10'000LL,
                           arrived = came + 307'000 + model.back;
        forth.push_back({left, model.server_clock(came) - left});
        back.push_back({arrived, model.server_clock(came + 307'000) - arrived});
    }
    const auto clocks = clocks_of(lower_hull(forth), upper_hull(back));
    REQUIRE(clocks);
    CHECK(clocks->drift_error > 1e-3);  // 10 ms in 1 s
    CHECK(clocks->drift * 1e6 == doctest::Approx(80).epsilon(0.01));
}

TEST_CASE("no point is below the line below, and two touch it around the middle") {
    std::mt19937 random(23);
    for (int run = 0; run < 101; ++run) {
        std::vector<Point> points(1 + random() % 53);
        for (auto& point : points)
            point = {static_cast<std::int64_t>(random() % 1009), static_cast<std::int64_t>(random() % 2003) - 1000};
        const auto line = line_along(lower_hull(points));
        int touching = 0;
        for (const auto& point : points) {
            CHECK(static_cast<double>(point.difference) >= line.value(point.at) - 1e-6);
            touching += std::abs(static_cast<double>(point.difference) - line.value(point.at)) < 1e-6;
        }
        CHECK(touching >= 1);
        const auto above = line_along(upper_hull(points));
        for (const auto& point : points)
            CHECK(static_cast<double>(point.difference) <= above.value(point.at) + 1e-6);
    }
}

TEST_CASE("one request bounds both, and a clock that was set has none") {
    const auto clocks_by = [](std::vector<Point> forth, std::vector<Point> back) {
        return clocks_of(lower_hull(forth), upper_hull(back));
    };
    const auto one = clocks_by({{1000, 530}}, {{2000, 470}});
    REQUIRE(one);
    CHECK(one->offset() == 500);
    CHECK(one->error() == 30);
    CHECK_FALSE(clocks_by({{1000, 530}, {3000, -99'000}}, {{2000, 470}, {4000, -99'100}}));
}
