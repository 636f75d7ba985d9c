// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <vector>

#include "kinds/latency/tail.h"

using stapgen::kinds::latency::tail_sentence;
using stapgen::table::Breakdown;

namespace {

/// n records whose stages are these, in ns.
void add(Breakdown& breakdown, int n, const std::vector<std::int64_t>& stages) {
    std::int64_t total = 0;
    for (const auto stage : stages)
        total += std::max<std::int64_t>(stage, 0);
    for (int i = 0; i < n; ++i)
        breakdown.add(total, stages);
}

Breakdown made(const std::vector<std::int64_t>& usual, int n_slow, const std::vector<std::int64_t>& slow,
               std::vector<std::string> names = {"drv-ip", "ip-tcp", "tcp-app"}) {
    Breakdown breakdown("rx", std::move(names), 0);
    add(breakdown, 1998, usual);
    add(breakdown, n_slow, slow);
    return breakdown;
}

}  // namespace

TEST_CASE("the stage that holds most of the excess is named with its part of both") {
    // Means 60 and 492 us; the excess of 432 us is 407 us of tcp-app.
    CHECK(tail_sentence(made({4000, 5000, 51'000}, 11, {11'000, 23'000, 458'000})) ==
          "The 11 slowest of 2,009 rx records (above the p99 of 60.0 us) take 8.2 times as long as the others (492 us "
          "against 60.0 us on average); tcp-app causes 94 % of the extra time: 93 % of the slow records' time, 85 % of "
          "the rest's.");
}

TEST_CASE("stages that share the excess are named until most of it is covered") {
    // The excess of 1300 us: 700, 130 and 470.
    CHECK(tail_sentence(made({10'000, 20'000, 70'000}, 3, {710'000, 150'000, 540'000})) ==
          "The 3 slowest of 2,001 rx records (above the p99 of 100 us) take 14 times as long as the others (1.40 ms "
          "against 100 us on average); drv-ip causes 54 % of the extra time (51 % of the slow records' time, 10 % of "
          "the rest's) and tcp-app 36 % (39 %, 70 %).");
    CHECK(tail_sentence(made({10'000, 20'000, 30'000}, 1, {511'000, 350'000, 340'000}))
              .ends_with("takes 20 times as long as the others (1.20 ms against 60.0 us); drv-ip causes 44 % of the "
                         "extra time (43 % of the slow record's time, 17 % of the rest's), ip-tcp 29 % (29 %, 33 %) "
                         "and tcp-app 27 % (28 %, 50 %)."));
}

TEST_CASE("a stage that holds all of the excess, while others shrink") {
    CHECK(tail_sentence(made({10'000, 20'000, 70'000}, 3, {0, 20'000, 180'000}))
              .ends_with("take 2.0 times as long as the others (200 us against 100 us on average); tcp-app causes all "
                         "the extra time: 90 % of the slow records' time, 70 % of the rest's."));
}

TEST_CASE("no stage stands out where they grow alike, or where too many hold the excess") {
    CHECK(tail_sentence(made({33'000, 37'000, 30'000}, 3, {34'100, 38'000, 31'000}))
              .ends_with("take 1.03 times as long as the others (103 us against 100 us on average); no stage stands "
                         "out: drv-ip has most of the extra time, 35 %: 33 % of the slow records' time, 33 % of the "
                         "rest's."));
    CHECK(tail_sentence(
              made({1000, 1000, 1000, 1000, 96'000}, 3, {9000, 9000, 9000, 9000, 105'000}, {"a", "b", "c", "d", "e"}))
              .ends_with("no stage stands out: e has most of the extra time, 22 %: 74 % of the slow records' time, "
                         "96 % of the rest's."));
}

TEST_CASE("units are those that fit, and small parts are not rounded away") {
    CHECK(tail_sentence(made({100, 100, 400}, 3, {3'000'000, 100, 5'000'000'000})) ==
          "The 3 slowest of 2,001 rx records (above the p99 of 600 ns) take 8,338,334 times as long as the others "
          "(5.00 s against 600 ns on average); tcp-app causes over 99 % of the extra time: over 99 % of the slow "
          "records' time, 67 % of the rest's.");
    CHECK(tail_sentence(made({1, 1, 998}, 3, {1, 1, 2998}))
              .ends_with(
                  "tcp-app causes all the extra time: over 99 % of the slow records' time, over 99 % of the rest's."));
}

TEST_CASE("without enough records or without a tail it says that") {
    Breakdown breakdown("", {"drv-ip"}, 0);
    CHECK(tail_sentence(breakdown).empty());
    add(breakdown, 1, {4001});
    CHECK(tail_sentence(breakdown) == "1 record is too few to explain those above p99: 368 are needed.");
    add(breakdown, 366, {4001});
    CHECK(tail_sentence(breakdown) == "367 records are too few to explain those above p99: 368 are needed.");
    CHECK(tail_sentence(breakdown, 99.9).ends_with("above p99.9: 3,688 are needed."));
    add(breakdown, 1, {4001});
    CHECK(tail_sentence(breakdown) == "None of 368 records is clearly above the p99 of 4.00 us: there is no tail.");
}

TEST_CASE("a total that its stages do not explain is reported, and none that is nothing is divided by") {
    Breakdown breakdown("", {"app"}, 0);
    for (int i = 0; i < 997; ++i)
        breakdown.add(5000, std::vector<std::int64_t>{3000});
    auto by_nothing = breakdown;
    for (int i = 0; i < 3; ++i)
        breakdown.add(7000, std::vector<std::int64_t>{2000});
    CHECK(tail_sentence(breakdown) ==
          "The 3 slowest of 1,000 records (above the p99 of 5.00 us) spend no more time in the stages than the others "
          "(2.00 us against 3.00 us on average): the extra time is between the stages.");

    Breakdown from_zero("", {"app"}, 0);
    for (int i = 0; i < 997; ++i)
        from_zero.add(5000, std::vector<std::int64_t>{0});
    from_zero.add(7000, std::vector<std::int64_t>{7000});
    CHECK(tail_sentence(from_zero) ==
          "The slowest of 998 records (above the p99 of 5.00 us) spends 7.00 us in the stages, the others nothing; app "
          "causes all the extra time: 100 % of the slow record's time, 0 % of the rest's.");
}

TEST_CASE("names from the input do no harm to a terminal") {
    Breakdown breakdown("r\x1bx", {"a\nb"}, 0);
    add(breakdown, 997, {1000});
    add(breakdown, 3, {9000});
    const auto text = tail_sentence(breakdown);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find("a\\x0ab") != std::string::npos);
}
