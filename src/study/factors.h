// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "study/outliers.h"
#include "study/t_test.h"

/// Whether it is the kernel, or a label, that makes hosts different.
namespace stapgen::study {

/// The hosts of one level of a factor (Member::levels) beside those of the level that most hosts have, in one stage and
/// percentile.
struct Contrast : Tested {
    std::string factor, level, base;
    std::string stage, statistic;
    std::size_t hosts = 0, base_hosts = 0;
    double value_ns = 0, base_ns = 0;  ///< the hosts' geometric mean; `value_ns` as it were with the blocks of the base
    std::vector<std::string> same_hosts;  ///< levels of other factors that are of the same hosts as `level`
    std::vector<std::string> within;      ///< factors in whose levels it was compared

    static constexpr About about{.name = "rows"};
    static constexpr void columns(auto&& column) {
        column(Key(), "factor", &Contrast::factor);
        column(Key(), "level", &Contrast::level);
        column(Separate(), "same_hosts", &Contrast::same_hosts);
        column(Key(), "base", &Contrast::base);
        column(Separate(), "within", &Contrast::within);
        column(Key(), "stage", &Contrast::stage);
        column(Key(), "statistic", &Contrast::statistic);
        column(Separate(), "hosts", &Contrast::hosts);
        column(Separate(), "base_hosts", &Contrast::base_hosts);
        column(Separate(), "value_ns", &Contrast::value_ns);
        column(Separate(), "base_ns", &Contrast::base_ns);
        Tested::columns(column);
    }
};

struct FactorEffects {
    std::vector<Contrast> contrasts;               ///< the smallest p first
    std::map<std::string, std::string> goes_with;  ///< a factor that coincides with another -> that one
    std::map<std::string, std::size_t> untold;     ///< by factor: how many of its levels have too few hosts
};

/// Each level with `hosts_needed` hosts or more is tested against the largest one of its factor. So a bad level is in
/// one comparison and not in those of the others, and two levels are one comparison and not two. Each host is one
/// value, whatever its n. The test is Welch's of logarithms, for levels may vary differently; the spread of a stage is
/// drawn to that of all stages and both levels. One Holm family, apart from that of the hosts: their number would drown
/// the few rows of factors.
///
/// Ignores hosts that stand out (`deviations`) among those of their level. A factor with a level that stands out
/// is a block for the others from then on: they are compared within its levels, so that a factor that partly coincides
/// with it is not reported, too.
FactorEffects compare_factors(std::span<const Member> members, std::span<const Deviation> deviations,
                              const std::vector<table::Percentile>& percentiles, double threshold);

inline constexpr std::size_t hosts_needed = 3;
/// Whether there is a factor with two levels that have enough hosts.
bool has_factors(std::span<const Member> members);

}  // namespace stapgen::study
