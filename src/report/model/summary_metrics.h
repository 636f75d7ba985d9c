// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <span>

#include "analyze/summary.h"
#include "metrics/family.h"
#include "report/model/report.h"

namespace stapgen::report {

/// What summaries say, as families of metrics: histograms of stages in seconds, counters of drops, the account and all
/// that was lost. Those of one recipe add up; one whose definition differs has it as a label. Counts below zero, which
/// an interval's account may have, are 0.
class SummaryMetrics {
  public:
    /// A measurement that goes on is cut in the middle of what is under way: what is incomplete now may be complete
    /// later, so that it is no counter.
    explicit SummaryMetrics(bool goes_on = false) : goes_on_(goes_on) {}

    /// But for groups.
    void add(const analyze::Summary& summary, std::span<const analyze::Tally> counts);
    void add_groups(const Report& rows);

    /// In the order in which they are written.
    [[nodiscard]] metrics::Families families() const;

  private:
    void set_definition(const analyze::Summary& summary);
    [[nodiscard]] metrics::Labels of(metrics::Labels labels, const analyze::Group& group = {}) const;
    void add_origins(const analyze::Summary& summary);
    void add_measures(const analyze::Summary& summary);
    void add_account(const analyze::Summary& summary);

    using Family = metrics::Family;
    using Type = metrics::Type;

    bool goes_on_;
    metrics::Labels definition_;  ///< of the summary that is added
    Family runs_{"stapgen_run", Type::info, "", "The host and the definition of a measurement."};
    Family stages_{"stapgen_stage_seconds", Type::histogram, "seconds",
                   "Durations of each stage of the network stack."};
    Family groups_{"stapgen_group_stage_seconds", Type::histogram, "seconds",
                   "The same for each group: the groups are parts of stapgen_stage_seconds."};
    Family values_{"stapgen_value", Type::summary, "", "Values that are not durations."};
    Family average_times_{"stapgen_average_seconds", Type::summary, "seconds", "Durations known by their means only."};
    Family drops_{"stapgen_drops", Type::counter, "", "Packets dropped, by place and reason."};
    Family tallies_{"stapgen_counted", Type::counter, "", "Sums of what a recipe counts, by its keys."};
    Family seen_{"stapgen_seen", Type::counter, "", "Everything the script examined: the sum of stapgen_records."};
    Family records_{"stapgen_records", Type::counter, "", "The account of everything seen."};
    Family incomplete_{"stapgen_incomplete", Type::gauge, "", "Seen, but not through all stages, or not yet."};
    Family other_{"stapgen_beside", Type::counter, "", "Counts of the script outside the account."};
    Family losses_{"stapgen_losses", Type::counter, "", "What SystemTap lost by its own account."};
    Family counters_{"stapgen_kernel_counter", Type::counter, "", "Rises of kernel counters."};
    Family lines_{"stapgen_input_lines", Type::counter, "", "Lines of the input, understood or not."};
    Family not_closed_{"stapgen_not_closed", Type::counter, "", "Reports whose input ends without its last line."};
};

}  // namespace stapgen::report
