// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/proposal.h"

#include <doctest/doctest.h>

#include "base/files.h"
#include "kept_recording.h"
#include "when/condition.h"

using namespace stapgen;

namespace {

/// Of a recording, as `stapgen why` has it.
std::optional<rows::Proposal> proposed(const KeptRecording& made, const char* recipe = "rx-latency") {
    recipe::Catalog catalog;
    catalog.recipes.emplace_back().name = recipe;
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "a.rec";
    REQUIRE(base::create_file(file, made.text()));
    const session::Presentation presentation;
    auto read = session::load({file}, presentation, {});
    REQUIRE(read);
    session::put_proposal({file}, presentation, {}, catalog, read->front());
    const auto& all = read->front().of<rows::Proposal>();
    return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<when::Met> values(const std::vector<std::int64_t>& all) {
    std::vector<when::Met> mets;
    for (const auto value : all)
        mets.push_back({0, value, std::ssize(mets), mets.empty()});
    return mets;
}

const when::Condition run_queue{"tcp-app.run-queue", when::Statistic::percentile, 99, -1, true};

}  // namespace

TEST_CASE("a value that is passed seldom, readable, and how often it would have held") {
    std::vector<std::int64_t> all(97, 110'000);
    all[17] = all[18] = 6'100'000;
    all[53] = 9'700'000;
    const auto proposal = session::proposal_of(run_queue, values(all));
    REQUIRE(proposal);
    CHECK(proposal->condition == "tcp-app.run-queue p99 > 300us over 1s");
    CHECK(proposal->intervals == 97);
    CHECK(proposal->held == 3);
    CHECK(proposal->times == 2);
    CHECK(proposal->largest_ns == 9'700'000);
    // A second without a packet between them.
    auto mets = values(all);
    mets[18].anew = true;
    CHECK(session::proposal_of(run_queue, mets)->times == 3);
}

TEST_CASE("what is proposed can be typed, whatever the values are") {
    for (std::int64_t value = 1; value < 300'000'000'000'000'000; value = value * 13 / 7 + 1) {
        const auto proposal = session::proposal_of(run_queue, values(std::vector(23, value)));
        REQUIRE(proposal);
        const auto parsed = when::parse_condition(proposal->condition);
        REQUIRE(parsed);
        CHECK(parsed->text() == proposal->condition);
        CHECK(parsed->is_duration);
        if (value < 40'000'000'000'000) CHECK(parsed->above >= 2 * value);
    }
}

TEST_CASE("too few values, or none above 0, have none") {
    CHECK_FALSE(session::proposal_of(run_queue, values(std::vector<std::int64_t>(19, 7))));
    CHECK_FALSE(session::proposal_of(run_queue, values(std::vector<std::int64_t>(20, 0))));
    CHECK(session::proposal_of(run_queue, values(std::vector<std::int64_t>(20, 7))));
}

TEST_CASE("of a recording what slow packets waited for is watched: by its p99 where there is traffic enough") {
    KeptRecording made;
    made.more_run_queue = [](int connection, double at) {
        return at >= 23 && at < 24.5 && connection < 5 ? 4'100'000 : 0;
    };
    // 100 packets a second are too few for a p99 of a second, and a thousand in 10 s are not.
    const auto ten = proposed(made);
    REQUIRE(ten);
    CHECK(ten->condition.starts_with("tcp-app.run-queue p99 > "));
    CHECK(ten->condition.ends_with(" over 10s"));
    made.every_ns = 83'000'003;
    const auto one = proposed(made);
    REQUIRE(one);
    CHECK(one->condition == "tcp-app.run-queue p99 > 5us over 1s");
    CHECK(one->times == 1);
    CHECK(one->held >= 1);
    CHECK(one->held <= 3);
    CHECK(one->largest_ns == doctest::Approx(4'102'200).epsilon(0.01));
    made.connections = 1;
    made.every_ns = 797'000'003;
    const auto few = proposed(made);
    REQUIRE(few);
    CHECK(few->condition.find(" max > ") != std::string::npos);
}

TEST_CASE("a recipe that is not there has none") {
    CHECK_FALSE(proposed({}, "mine"));
    CHECK(proposed({}));
}
