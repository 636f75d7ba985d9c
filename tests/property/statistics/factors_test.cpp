// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/factors.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "rounds.h"
#include "simulated_hosts.h"

using namespace stapgen;
using namespace stapgen::study;

namespace {

const auto percentiles = table::parse_percentiles("50,99").value();

struct Findings {
    std::vector<Deviation> deviations;
    FactorEffects effects;

    explicit Findings(const std::vector<Member>& members)
        : deviations(find_outliers(members, percentiles, 0.05)),
          effects(compare_factors(members, deviations, percentiles, 0.05)) {}

    [[nodiscard]] std::set<std::string> hosts() const {
        std::set<std::string> found;
        for (const auto& deviation : deviations) {
            if (deviation.stands_out) found.insert(fmt::format("web{}", deviation.member));
        }
        return found;
    }
    /// "kernel 2 stage0".
    [[nodiscard]] std::set<std::string> levels() const {
        std::set<std::string> found;
        for (const auto& contrast : effects.contrasts) {
            if (contrast.stands_out) found.insert(contrast.level + " " + contrast.stage);
        }
        return found;
    }
};

using Names = std::set<std::string>;

/// Kernel 1, 2 and so on, so many hosts of each.
auto kernels(std::vector<std::size_t> counts) {
    return [counts = std::move(counts)](std::size_t host) -> Fleet::Levels {
        std::size_t kernel = 0;
        while (host >= counts[kernel])
            host -= counts[kernel++];
        return {{"kernel", fmt::format("kernel {}", kernel + 1)}};
    };
}

/// What takes longer, where `is_slow` says so.
auto slower_where(double slower, auto is_slow) {
    return [=](std::size_t host) { return is_slow(host) ? slower : 1.0; };
}

}  // namespace

TEST_CASE("of fleets whose kernels are alike, one in twenty has a kernel or a host that stands out at most") {
    const int times = rounds(200), most = at_most(times, 0.05);
    struct Case {
        std::vector<std::size_t> counts;
        double unrest = 1;  ///< of the second kernel's hosts
    };
    for (const auto& [counts, unrest] : {Case{{3, 3}}, Case{{11, 12}}, Case{{5, 4, 7, 3}}, Case{{13, 3}, 2}}) {
        for (const double alike : {0.0, 0.5, 1.0}) {
            Fleet fleet{.values = 401, .alike = alike, .levels = kernels(counts)};
            fleet.hosts = 0;
            for (const auto count : counts)
                fleet.hosts += count;
            fleet.unrest = slower_where(
                unrest, [&](std::size_t host) { return host >= counts[0] && host < counts[0] + counts[1]; });
            std::mt19937_64 random(fleet.hosts);
            int alarms = 0;
            for (int i = 0; i < times; ++i) {
                const Findings found(make(fleet, random));
                // Hosts that vary more do differ.
                alarms += found.levels().empty() && (unrest > 1 || found.hosts().empty()) ? 0 : 1;
            }
            const auto name =
                fmt::format("{} hosts, unrest {}, {} in common", fmt::join(counts, " and "), unrest, alike);
            CAPTURE(name);
            MESSAGE(fmt::format("{}: {} of {}", name, alarms, times));
            CHECK(alarms <= most);
        }
    }
}

TEST_CASE("a kernel that is slower in one stage is found, with that stage and no host") {
    const int times = rounds(100);
    struct Case {
        std::vector<std::size_t> counts;
        double slower;
        int least;
    };
    for (const auto& [counts, slower, least] :
         {Case{{4, 3}, 4, 85}, Case{{12, 11}, 1.5, 85}, Case{{101, 97}, 1.15, 85}, Case{{9, 7, 5}, 2, 85}}) {
        Fleet fleet{.values = 401, .levels = kernels(counts)};
        fleet.hosts = 0;
        for (const auto count : counts)
            fleet.hosts += count;
        const auto of = fleet.levels;
        fleet.slower = slower_where(slower, [&](std::size_t host) { return of(host).at("kernel") == "kernel 2"; });
        std::mt19937_64 random(fleet.hosts);
        int right = 0;
        for (int i = 0; i < times; ++i) {
            const Findings found(make(fleet, random));
            right += found.levels() == Names{"kernel 2 stage0"} && found.hosts().empty() ? 1 : 0;
        }
        const auto name = fmt::format("{} hosts, kernel 2 {} times slower", fmt::join(counts, " and "), slower);
        CAPTURE(name);
        MESSAGE(fmt::format("{}: {} of {}", name, right, times));
        CHECK(right >= at_least(times, least));
    }
}

TEST_CASE("a single bad host is not taken for its kernel") {
    const int times = rounds(200), most = at_most(times, 0.05);
    for (const std::vector<std::size_t>& counts : {std::vector<std::size_t>{3, 3}, {20, 3}, {12, 11}}) {
        for (const double slower : {2.0, 100.0}) {
            Fleet fleet{.hosts = counts[0] + counts[1], .values = 401, .levels = kernels(counts)};
            fleet.slower = slower_where(slower, [&](std::size_t host) { return host == counts[0]; });
            std::mt19937_64 random(fleet.hosts);
            int alarms = 0;
            for (int i = 0; i < times; ++i)
                alarms += Findings(make(fleet, random)).levels().empty() ? 0 : 1;
            const auto name =
                fmt::format("{} hosts, one of kernel 2 {} times slower", fmt::join(counts, " and "), slower);
            CAPTURE(name);
            MESSAGE(fmt::format("{}: {} of {}", name, alarms, times));
            CHECK(alarms <= most);
        }
    }
}

TEST_CASE("what goes with a kernel in part is not told, too") {
    const int times = rounds(100);
    // Kernel 2 on 18 of the 24 hosts of dc=b, and on 6 of the 24 of dc=a.
    const auto levels = [](std::size_t host) -> Fleet::Levels {
        const bool is_b = host >= 24, is_new = host % 24 < (is_b ? 18 : 6);
        return {{"kernel", is_new ? "kernel 2" : "kernel 1"}, {"label dc", is_b ? "dc=b" : "dc=a"}};
    };
    struct Case {
        std::string factor, level;
    };
    for (const auto& [factor, level] : {Case{"kernel", "kernel 2"}, Case{"label dc", "dc=b"}}) {
        Fleet fleet{.hosts = 48, .values = 401, .levels = levels};
        fleet.slower =
            slower_where(1.6, [&, f = factor, l = level](std::size_t host) { return levels(host).at(f) == l; });
        std::mt19937_64 random(48);
        int right = 0;
        for (int i = 0; i < times; ++i)
            right += Findings(make(fleet, random)).levels() == Names{level + " stage0"} ? 1 : 0;
        CAPTURE(level);
        MESSAGE(fmt::format("{}: {} of {}", level, right, times));
        CHECK(right >= at_least(times, 85));
    }
}
