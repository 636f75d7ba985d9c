// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/factors.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <set>

using namespace stapgen;
using namespace stapgen::study;

namespace {

const std::vector<table::Percentile> median = table::parse_percentiles("50").value();

/// A host whose values are all the same: `ns` in the stage ip-tcp, 907 in tcp-app.
Member host(const std::string& kernel, std::int64_t ns, const std::string& dc = "", const std::string& recipe = "rx") {
    Member member{"web", {fmt::format("{}, {}", kernel, dc), recipe}, {{"ip-tcp"}, {"tcp-app"}}, {}};
    member.levels["kernel"] = kernel;
    if (!dc.empty()) member.levels["label dc"] = dc;
    member.stages[0].stats.add(ns, 401);
    member.stages[1].stats.add(907, 401);
    return member;
}

std::vector<Member> operator+(std::vector<Member> members, const std::vector<Member>& more) {
    members.insert(members.end(), more.begin(), more.end());
    return members;
}

/// So many, whose geometric mean in ip-tcp is `middle` if they are a multiple of three.
std::vector<Member> hosts(const std::string& kernel, std::int64_t middle, std::size_t count,
                          const std::string& dc = "") {
    std::vector<Member> members;
    for (std::size_t i = 0; i < count; ++i) {
        const double factor = std::pow(0.9, static_cast<double>(i % 3) - 1);
        members.push_back(host(kernel, std::llround(static_cast<double>(middle) * factor), dc));
    }
    return members;
}

FactorEffects effects_of(const std::vector<Member>& members) {
    return compare_factors(members, find_outliers(members, median, 0.05), median, 0.05);
}

std::set<std::string> different(const FactorEffects& effects) {
    std::set<std::string> found;
    for (const auto& contrast : effects.contrasts) {
        if (contrast.stands_out) found.insert(contrast.level + " " + contrast.stage);
    }
    return found;
}

}  // namespace

TEST_CASE("each kernel is compared with the one that most hosts have") {
    const auto effects = effects_of(hosts("6.1", 10'007, 6) + hosts("6.12", 13'009, 9) + hosts("7.2", 39'019, 3));
    REQUIRE(effects.contrasts.size() == 4);  // two kernels, two stages
    const auto& first = effects.contrasts.front();
    CHECK(first.level == "7.2");
    CHECK(first.base == "6.12");
    CHECK(first.stage == "ip-tcp");
    CHECK(first.statistic == "50");
    CHECK(first.hosts == 3);
    CHECK(first.base_hosts == 9);
    CHECK(first.base_ns == doctest::Approx(13'009).epsilon(0.003));
    CHECK(first.value_ns == doctest::Approx(39'019).epsilon(0.003));
    CHECK(first.change == doctest::Approx(39'019.0 / 13'009 - 1).epsilon(0.01));
    CHECK(first.low < first.change);
    CHECK(first.change < first.high);
    CHECK(different(effects) == std::set<std::string>{"7.2 ip-tcp", "6.1 ip-tcp"});
    CHECK(effects.goes_with.empty());
    CHECK(effects.untold.empty());
}

TEST_CASE("the interval of one kernel against another is that of a moderated Welch test") {
    // Logarithms are 0 and +-d on both sides: squares are 2 d^2, of 2 degrees. The other stage has no spread, so that
    // the prior is half of d^2.
    const double d = std::log(1 / 0.9), prior = d * d / 2;
    const double drawn = (2 * prior + 2 * d * d) / 4, error = std::sqrt(drawn * 2 / 3);
    const double reach = 2.306004 * error;  // Student's 97.5 % of 8 degrees
    const auto effects = effects_of(hosts("6.1", 100'003, 3) + hosts("6.12", 150'001, 3));
    for (const auto& contrast : effects.contrasts) {
        if (contrast.stage != "ip-tcp") continue;
        CHECK(std::log1p(contrast.low) == doctest::Approx(std::log(150'001.0 / 100'003) - reach).epsilon(0.02));
        CHECK(std::log1p(contrast.high) == doctest::Approx(std::log(150'001.0 / 100'003) + reach).epsilon(0.02));
    }
}

TEST_CASE("a level of fewer than three hosts cannot be told") {
    const auto effects = effects_of(hosts("6.1", 10'007, 7) + hosts("6.12", 90'001, 2));
    CHECK(effects.contrasts.empty());
    CHECK(effects.untold == std::map<std::string, std::size_t>{{"kernel", 1}});
    CHECK(effects_of(hosts("6.1", 10'007, 7)).untold.empty());
    CHECK(effects_of({}).contrasts.empty());
}

TEST_CASE("a label that goes with the kernel is not told twice") {
    const auto effects = effects_of(hosts("6.1", 10'007, 7, "dc=fra1") + hosts("6.12", 90'001, 5, "dc=lon2"));
    CHECK(effects.contrasts.size() == 2);
    CHECK(different(effects) == std::set<std::string>{"6.12 ip-tcp"});
    CHECK(effects.contrasts.front().same_hosts == std::vector<std::string>{"dc=lon2"});
    CHECK(effects.goes_with == std::map<std::string, std::string>{{"label dc", "kernel"}});
}

TEST_CASE("a label is compared within the kernels once these differ") {
    // The new kernel is slower, and most of its hosts are in lon2.
    const auto effects = effects_of(hosts("6.1", 10'007, 9, "dc=fra1") + hosts("6.1", 10'007, 3, "dc=lon2") +
                                    hosts("6.12", 20'011, 3, "dc=fra1") + hosts("6.12", 20'011, 9, "dc=lon2"));
    CHECK(different(effects) == std::set<std::string>{"6.12 ip-tcp"});
    for (const auto& contrast : effects.contrasts) {
        const bool is_dc = contrast.factor == "label dc";
        CHECK(contrast.within == (is_dc ? std::vector<std::string>{"kernel"} : std::vector<std::string>{}));
        if (is_dc) CHECK(contrast.change == doctest::Approx(0).epsilon(0.001));
    }
}

TEST_CASE("a kernel with more hosts of both labels counts more") {
    // lon2 is 4 times slower with 6.1, where 9 and 3 hosts weigh 9 * 3 / 12, and 8 times with 6.12, where 3 and 3 weigh
    // 3 * 3 / 6.
    const auto effects = effects_of(hosts("6.1", 10'007, 9, "dc=fra1") + hosts("6.1", 40'028, 3, "dc=lon2") +
                                    hosts("6.12", 1'000'003, 3, "dc=fra1") + hosts("6.12", 8'000'024, 3, "dc=lon2"));
    CHECK(different(effects) == std::set<std::string>{"6.12 ip-tcp", "dc=lon2 ip-tcp"});
    for (const auto& contrast : effects.contrasts) {
        if (contrast.factor != "label dc" || contrast.stage != "ip-tcp") continue;
        const double distance = (2.25 * std::log(4) + 1.5 * std::log(8)) / 3.75;
        CHECK(std::log1p(contrast.change) == doctest::Approx(distance).epsilon(0.003));
        CHECK(contrast.hosts == 6);
        CHECK(contrast.base_hosts == 12);
    }
}

TEST_CASE("where a label has too few hosts within a kernel it is said to go with it") {
    const auto effects = effects_of(hosts("6.1", 10'007, 9, "dc=fra1") + hosts("6.1", 10'007, 1, "dc=lon2") +
                                    hosts("6.12", 50'021, 9, "dc=lon2"));
    CHECK(different(effects) == std::set<std::string>{"6.12 ip-tcp"});
    CHECK(effects.goes_with == std::map<std::string, std::string>{{"label dc", "kernel"}});
}

TEST_CASE("a host that stands out of its kernel's is left out") {
    const auto bad = std::vector{host("6.12", 9'000'011)};
    const auto effects = effects_of(hosts("6.1", 10'007, 9) + hosts("6.12", 15'013, 8) + bad);
    REQUIRE(different(effects) == std::set<std::string>{"6.12 ip-tcp"});
    CHECK(effects.contrasts.front().hosts == 8);
    CHECK(effects.contrasts.front().value_ns < 16'000);
}

TEST_CASE("hosts that run another recipe are not compared") {
    std::vector<Member> members;
    for (const std::int64_t ns : {10'007, 10'103, 10'211})
        members.push_back(host("6.1", ns, "", "rx"));
    for (const std::int64_t ns : {90'001, 90'007, 91'009})
        members.push_back(host("6.12", ns, "", "rx of port 80"));
    CHECK(effects_of(members).contrasts.empty());
    CHECK_FALSE(has_factors(members));
}

TEST_CASE("a host that lacks a stage has it, without values") {
    std::vector<Member> members{{"idle", {"all"}, {{"tcp-app"}}, {}}, host("6.1", 10'007)};
    align_stages(members);
    for (const auto& member : members) {
        REQUIRE(member.stages.size() == 2);
        CHECK(member.stages[0].name == "tcp-app");
        CHECK(member.stages[1].name == "ip-tcp");
    }
    CHECK(members[0].stages[1].stats.n() == 0);
    CHECK(members[1].stages[1].stats.n() == 401);
    CHECK(members[1].stages[0].stats.max() == 907);
}
