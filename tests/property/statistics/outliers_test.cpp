// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/outliers.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <set>

#include "rounds.h"
#include "simulated_hosts.h"

using namespace stapgen;
using namespace stapgen::study;

namespace {

/// Who stands out, and in which stages.
std::set<std::pair<std::size_t, std::string>> found_in(const std::vector<Member>& members) {
    std::set<std::pair<std::size_t, std::string>> found;
    for (const auto& deviation : find_outliers(members, table::parse_percentiles("50,99").value(), 0.05)) {
        if (deviation.stands_out) found.emplace(deviation.member, deviation.stage);
    }
    return found;
}

/// In how many of `times` fleets somebody stands out.
int false_alarms(const Fleet& fleet, int times, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    int alarms = 0;
    for (int i = 0; i < times; ++i)
        alarms += found_in(make(fleet, random)).empty() ? 0 : 1;
    return alarms;
}

}  // namespace

TEST_CASE("of fleets whose hosts are alike, one in twenty has a host that stands out at most") {
    const int times = rounds(200), most = at_most(times, 0.05);
    for (const std::size_t hosts : {4U, 7U, 23U}) {
        for (const double alike : {0.0, 0.5, 1.0}) {
            CAPTURE(hosts);
            CAPTURE(alike);
            const int alarms = false_alarms({.hosts = hosts, .values = 401, .alike = alike}, times, hosts);
            MESSAGE(fmt::format("{} hosts, {} in common: {} of {}", hosts, alike, alarms, times));
            CHECK(alarms <= most);
        }
    }
}

TEST_CASE("a host that is slow in one stage is found, with that stage and no other host") {
    const int times = rounds(100);
    struct Case {
        std::size_t hosts;
        double slower;
        int least;
    };
    for (const auto& [hosts, slower, least] : {Case{4, 200, 98}, Case{7, 11, 97}, Case{23, 5, 92}}) {
        CAPTURE(hosts);
        std::mt19937_64 random(hosts);
        int right = 0;
        for (int i = 0; i < times; ++i) {
            const auto slow = [&, by = slower](std::size_t host) { return host == 2 ? by : 1; };
            const auto members = make({.hosts = hosts, .values = 401, .slower = slow}, random);
            right += found_in(members) == std::set<std::pair<std::size_t, std::string>>{{2, "stage0"}} ? 1 : 0;
        }
        MESSAGE(fmt::format("{} hosts, one {} times slower: {} of {}", hosts, slower, right, times));
        CHECK(right >= at_least(times, least));
    }
}
