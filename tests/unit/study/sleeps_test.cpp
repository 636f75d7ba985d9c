// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/sleeps.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/show/repeated.h"

using namespace stapgen;

namespace {

constexpr std::int64_t per_ms = 1'000'000;

rows::Who slept(const std::string& waited, const std::string& by, const std::string& waker, const std::string& holder,
                const std::string& meanwhile, std::int64_t n, std::int64_t ns) {
    return {.group = {{"tid", std::int64_t{21}},
                      {"comm", std::string("web")},
                      {"waited", waited},
                      {"by", by},
                      {"waker", waker},
                      {"holder", holder},
                      {"meanwhile", meanwhile}},
            .n = n,
            .sum_ns = ns};
}
rows::Who asked(const std::string& what, const std::string& by, std::int64_t n, std::int64_t ns) {
    return slept("server." + what, by, "-", "-", "-", n, ns);
}

rows::Results results_with(const std::vector<rows::Who>& who) {
    rows::Results results;
    results.put(who);
    return results;
}
void put_stage(rows::Results& results, const std::string& name, table::Histogram stats) {
    results.of<rows::Stage>().push_back({name, {}, std::move(stats)});
}

/// Of a lock, where some sleeps are these.
std::string sentence(std::vector<rows::Who> who, const std::string& part = "app.lock") {
    const auto most = study::slept_for(results_with(who), part);
    return most ? study::sleep_sentence(*most) : "";
}

}  // namespace

TEST_CASE("what threads slept for most is named, with its share, its holder, what that did, and who ended it") {
    const auto holds = slept("lock", "cache_lock in app", "log[77]", "log[77]", "disk", 47, 470 * per_ms);
    const auto runs = slept("lock", "cache_lock in app", "reaper[79]", "log[77]", "running", 4, 30 * per_ms);
    const auto other = slept("lock", "0x7f01", "web[23]", "-", "-", 2, 10 * per_ms);
    CHECK(sentence({other, runs, holds}) ==
          "; 98.0 % of that sleep was for cache_lock in app, which log[77] held (51 of 51 times), mostly in disk (94 "
          "%); log[77] ended 47 of 51 sleeps");
    // What else they slept for is no part of it.
    CHECK(sentence({holds, slept("timer", "-", "interrupt", "-", "-", 7, 9000 * per_ms)}) ==
          "; 100.0 % of that sleep was for cache_lock in app, which log[77] held (47 of 47 times), mostly in disk (100 "
          "%); log[77] ended 47 of 47 sleeps");
    CHECK(sentence({holds}, "app.futex").empty());
    CHECK(sentence({holds}, "tcp-app.lock").empty());
    CHECK(sentence({}).empty());
}

TEST_CASE("what is not known is not said, and that of a holder is said") {
    CHECK(sentence({slept("lock", "0x7f01", "web[23]", "-", "-", 3, 21)}) ==
          "; 100.0 % of that sleep was for the lock at 0x7f01, and who held it is not known; web[23] ended 3 of 3 "
          "sleeps");
    // A barger: another than the holder unlocked it. Of its time none has half.
    CHECK(
        sentence({slept("lock", "0x7f01", "web[23]", "log[77]", "disk", 1, 49),
                  slept("lock", "0x7f01", "-", "log[77]", "running", 1, 48),
                  slept("lock", "0x7f01", "-", "-", "-", 1, 3)}) ==
        "; 100.0 % of that sleep was for the lock at 0x7f01, which log[77] held (2 of 3 times), mostly in disk (51 %); "
        "web[23] ended 1 of 3 sleeps");
    CHECK(sentence({slept("lock", "0x7f01", "-", "log[77]", "disk", 1, 33),
                    slept("lock", "0x7f01", "-", "log[77]", "timer", 1, 33),
                    slept("lock", "0x7f01", "-", "log[77]", "-", 1, 34)}) ==
          "; 100.0 % of that sleep was for the lock at 0x7f01, which log[77] held (3 of 3 times)");
    // Neither the name nor the kind of what ends a sleep for a disk says more than that.
    CHECK(sentence({slept("disk", "0001 on 8:3", "interrupt", "-", "-", 5, 5 * per_ms)}, "app.disk") ==
          "; 100.0 % of that sleep was for 0001 on 8:3");
    CHECK(sentence({slept("process", "pipe", "cat[31]", "-", "-", 5, 5 * per_ms)}, "app.process") ==
          "; 100.0 % of that sleep was for a pipe; cat[31] ended 5 of 5 sleeps");
    CHECK(sentence({slept("asleep", "call 219", "-", "-", "-", 5, 5 * per_ms)}, "app.asleep") ==
          "; 100.0 % of that sleep was in call 219");
    CHECK(sentence({slept("timer", "-", "interrupt", "-", "-", 5, 5 * per_ms)}, "app.timer").empty());
    // Fewer than one in twenty is nothing to look at.
    std::vector<rows::Who> many;
    for (int i = 0; i < 21; ++i)
        many.push_back(slept("lock", "0x70" + std::to_string(i), "-", "-", "-", 1, 7));
    CHECK(sentence(many).empty());
    many.pop_back();
    CHECK_FALSE(sentence(many).empty());
}

TEST_CASE("a row of packets, and one of all others, are none of requests") {
    auto of_packet = slept("lock", "0x7f01", "-", "-", "-", 3, 21);
    of_packet.with_packet_ns = 21;
    CHECK(sentence({of_packet}).empty());
    const rows::Who other{.group = {{"other", true}}, .n = 9, .sum_ns = 90};
    CHECK(sentence({other}).empty());
    const auto lock = slept("lock", "0x7f01", "-", "-", "-", 1, 210);
    CHECK(study::unnamed_share(results_with({lock})) == 0);
    CHECK(study::unnamed_share(results_with({lock, other, of_packet, asked("first", "10.0.0.5:5432", 1, 700)})) ==
          doctest::Approx(0.3));
}

TEST_CASE("the remedy of a lock is for what its holder does") {
    const auto remedy = [](const std::string& meanwhile, const std::string& waited = "lock") {
        const auto most = study::slept_for(
            results_with({slept(waited, "0x7f01", "log[77]", "log[77]", meanwhile, 3, 21)}), "app." + waited);
        return study::remedy_of(most.value());
    };
    CHECK(remedy("disk") == "do not hold it during disk I/O");
    CHECK(remedy("server") == "do not hold it while another server is asked");
    CHECK(remedy("-").empty());
    CHECK(remedy("something else").empty());
    CHECK(remedy("disk", "futex").empty());
}

TEST_CASE("how often a server was asked per request is said where the sleeps are those of the requests") {
    auto results = results_with({asked("first", "10.0.0.5:5432", 762, 762 * per_ms),
                                 asked("rest", "10.0.0.5:5432", 762, 7 * per_ms),
                                 slept("server", "10.0.0.5:5432", "network", "-", "-", 762, 701 * per_ms)});
    CHECK(study::asked_sentence(results) ==
          "; asked 10.0.0.5:5432 762 times: sent to first byte 1.00 ms (mean of 762)");
    put_stage(results, "app", repeated(3 * per_ms, 401));
    put_stage(results, "app.server", repeated(701 * per_ms / 397, 397));
    CHECK(study::asked_sentence(results) ==
          "; asked 10.0.0.5:5432 1.9 times per request: sent to first byte 1.00 ms (mean of 762)");
    // Half of the requests were selected.
    results.of<rows::Stage>().back() = {"app.server", {}, repeated(701 * per_ms / 397, 199)};
    CHECK(study::asked_sentence(results).starts_with("; asked 10.0.0.5:5432 762 times:"));
    CHECK(study::asked_sentence(results_with(std::vector<rows::Who>())).empty());
}

TEST_CASE("of several servers those that took longest are named, and what was long after the first byte") {
    const std::vector<rows::Who> who{
        asked("first", "10.0.0.5:5432", 1, 5 * per_ms), asked("first", "10.0.0.6:6379", 300, 2 * per_ms),
        asked("first", "[fd00::7]:80", 3, 9 * per_ms), asked("rest", "[fd00::7]:80", 3, 3 * per_ms)};
    CHECK(study::asked_sentence(results_with(who)) ==
          "; asked [fd00::7]:80 3 times: sent to first byte 3.00 ms (mean of 3), from there until it was read 1.00 ms; "
          "asked 10.0.0.5:5432 1 time: sent to first byte 5.00 ms (mean of 1); and 1 more server");
}
