// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kinds/measured.h"
#include "study/t_test.h"
#include "table/histogram.h"

/// Which of several hosts is different, in which stage, and how sure that is.
namespace stapgen::study {

/// A distribution of the whole.
struct Stage {
    std::string name;
    table::Histogram stats{};
};

/// One host's measurement, as far as it is compared.
struct Member {
    std::string name;
    std::vector<std::string> cohorts;  ///< the narrowest first: those who share one are compared with each other
    std::vector<Stage> stages;         ///< in recipe order, without groups; the same names in all members
    std::map<std::string, std::string> levels{};  ///< "kernel" -> "kernel 6.1.0", "label dc" -> "dc=fra1"
};

/// Its stages and its totals.
std::vector<Stage> compared_stages(const kinds::Measured& measured);
/// Gives all members the stages of all: one that measured nothing may lack some.
void align_stages(std::vector<Member>& members);

/// One stage and percentile of a host beside those of the others of its cohort, as if they were one. The change is
/// value / others - 1.
struct Deviation : Tested {
    std::size_t member = 0;
    std::string host, stage, statistic;  ///< "tcp-app", "99"
    std::int64_t n = 0;                  ///< of the host
    double value_ns = 0, others_ns = 0;
    std::size_t others = 0;  ///< number of hosts
    std::string cohort;

    /// What a person reads of a cohort: what is behind the tab is not for people.
    [[nodiscard]] std::string cohort_name() const { return cohort.substr(0, cohort.find('\t')); }

    static constexpr About about{.name = "rows"};
    static constexpr void columns(auto&& column) {
        column(Key(), "host", &Deviation::host);
        column(Key(), "stage", &Deviation::stage);
        column(Key(), "statistic", &Deviation::statistic);
        column(Separate(), "n", &Deviation::n);
        column(Separate(), "value_ns", &Deviation::value_ns);
        column(Separate(), "others_ns", &Deviation::others_ns);
        column(Separate(), "others", &Deviation::others);
        column(Separate(), "cohort", &Deviation::cohort_name);
        Tested::columns(column);
    }
};

/// Every row that could be tested, the smallest p first. The test is Student's of the logarithm's distance from the
/// others, measured in what these differ among each other: not by what values vary within a host, for no two hosts are
/// the same. A stage's spread is drawn to that of all stages as if two more hosts had it (Smyth 2004, moderated t):
/// three others alone would know little. A host that stands out is none of the others of the next one. Hosts whose
/// every cohort has fewer than `others_needed` others are not tested.
std::vector<Deviation> find_outliers(std::span<const Member> members, const std::vector<table::Percentile>& percentiles,
                                     double threshold);

inline constexpr std::size_t others_needed = 3;

}  // namespace stapgen::study
