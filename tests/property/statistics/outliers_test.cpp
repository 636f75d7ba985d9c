#include "analyze/outliers.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

using namespace stapgen::analyze;

namespace {

struct Fleet {
    std::size_t hosts = 4, stages = 5;
    int values = 1009;
    double between = 0.2;       ///< standard deviation of the logarithm from host to host
    double alike = 0.5;         ///< how much of its square the stages of a host have in common
    std::size_t slow_host = 0;  ///< of which
    double slower = 1;          ///< the first stage takes so many times as long
};

std::vector<Member> make(const Fleet& fleet, std::mt19937_64& random) {
    std::normal_distribution<> normal;
    std::vector<Member> members(fleet.hosts);
    for (std::size_t host = 0; host < fleet.hosts; ++host) {
        members[host].name = fmt::format("web{}", host);
        members[host].cohorts = {""};
        const double common = normal(random) * std::sqrt(fleet.alike);
        for (std::size_t stage = 0; stage < fleet.stages; ++stage) {
            const double own = normal(random) * std::sqrt(1 - fleet.alike);
            double level = 20'000 * std::exp(fleet.between * (common + own));
            if (host == fleet.slow_host && stage == 0) level *= fleet.slower;
            auto& measure = members[host].stages.emplace_back(Measure{fmt::format("stage{}", stage), {}, {}});
            for (int i = 0; i < fleet.values; ++i)
                measure.stats.add(static_cast<std::int64_t>(level * std::exp(0.7 * normal(random))));
        }
    }
    return members;
}

/// Who stands out, and in which stages.
std::set<std::pair<std::size_t, std::string>> found_in(const std::vector<Member>& members) {
    std::set<std::pair<std::size_t, std::string>> found;
    for (const auto& deviation : find_outliers(members, parse_percentiles("50,99").value(), 0.05)) {
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
    // 200 times at 5 %: more than 17 would be one in a hundred.
    constexpr int times = 200, most = 17;
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
    constexpr int times = 100;
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
            const auto members = make({.hosts = hosts, .values = 401, .slow_host = 2, .slower = slower}, random);
            right += found_in(members) == std::set<std::pair<std::size_t, std::string>>{{2, "stage0"}} ? 1 : 0;
        }
        MESSAGE(fmt::format("{} hosts, one {} times slower: {} of {}", hosts, slower, right, times));
        CHECK(right >= least);
    }
}
