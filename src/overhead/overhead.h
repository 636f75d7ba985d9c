// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/net_counters.h"
#include "host/system.h"
#include "kinds/accounting.h"
#include "recipe/recipe.h"

/// The cost of probes: as expected, kept to a budget, and measured.
namespace stapgen::overhead {

/// The cost of a probe's hit, and how that is known.
struct HitCost {
    double ns = 0;
    bool measured = false;  ///< by --cost on this machine and kernel, else assumed
    double sampled = 0;     ///< the part of it, 0 to 1, that is spared where a socket is not in the sample; assumed
};

/// As last measured here, else by the recipe's instructions; `aggregates`: of a script that does.
HitCost hit_cost_of(const recipe::Recipe& recipe, bool aggregates, const std::string& release);

/// Keeps it for the next prediction. Only what was measured of all packets says what a hit costs.
void remember_hit_cost(const std::string& recipe, bool aggregates, const std::string& release, const kinds::Cost& cost);

/// The cost of a recipe's probes where nothing is filtered, at the traffic of one moment.
struct ExpectedCost {
    double hits_per_s = 0;
    HitCost hit;
    std::int64_t cpus = 1;
    double busiest_part = 1;  ///< of the packets, that the CPU received that received most
    double seconds = 0;       ///< that the traffic was counted for

    /// The part of all CPUs' time, 0 to 1.
    [[nodiscard]] double of_all_cpus() const { return of_one() / static_cast<double>(cpus); }
    /// The part of the time of the CPU that receives most packets, as if each packet stayed where it is received.
    [[nodiscard]] double of_busiest() const { return of_one() * busiest_part; }

  private:
    [[nodiscard]] double of_one() const { return hits_per_s * hit.ns / 1e9; }
};

ExpectedCost expected_cost(const recipe::Cost& cost, const HitCost& hit, const host::EventCounters& before,
                           const host::EventCounters& after, std::int64_t cpus);

/// Counts this machine's traffic for `period`. Nothing if the recipe does not say what it costs.
std::optional<ExpectedCost> expect_now(const host::System& machine, const recipe::Recipe& recipe, bool aggregates,
                                       std::chrono::milliseconds period);

/// How long the traffic is counted: for a person who waits; for a run, which takes longer anyway.
inline constexpr std::chrono::milliseconds sample_window{250}, budget_sample_window{1000};

/// "2.9 %", two digits.
std::string percent(double part);

/// "5%" as 0.05: what no CPU may spend more of its time on than that. More than 0, up to 50 %, where SystemTap draws
/// the line anyway.
base::Result<double> parse_budget(std::string_view typed);

/// For stap's -D: SystemTap's own guard ends the run, in the kernel, where a CPU was over the budget for
/// `guard_cycles`.
std::vector<std::string> guard_macros(double budget);
inline constexpr std::int64_t guard_cycles = 3'000'000'000;  ///< about a second; of the counter of host::read_cycles()

/// How a run keeps to its budget.
struct BudgetPlan {
    std::int64_t one_in = 1;  ///< of the sockets is measured
    double of_busiest = 0;    ///< what is expected then
};

/// With a sample that the user chose.
BudgetPlan plan_sample(std::int64_t one_in, const ExpectedCost& expected);

/// The smallest sample whose expected cost is within the budget; where none is, the one beyond which little is won.
BudgetPlan plan_budget(double budget, const ExpectedCost& expected);

/// The expected cost, for the user: "1,234 hits/s, 0.7 % of 4 CPUs, 2.9 % of the busiest; ...".
std::string sentence_of(const ExpectedCost& expected, const BudgetPlan& plan = {}, std::optional<double> budget = {});

/// Facts on the probes' cost that SystemTap does not say: how long they were there, how fast its clock is, and what
/// traffic there was in between.
class CostWatch {
  public:
    void begin(const host::System& machine) { begin_ = moment(machine); }
    /// The first call counts.
    void end(const host::System& machine) {
        if (begin_ && !end_) end_ = moment(machine);
    }
    /// Into what was measured, if anything was.
    void put_into(kinds::Cost& cost, const std::optional<recipe::Cost>& expected) const;

  private:
    struct Moment {
        host::EventCounters events;
        std::optional<std::uint64_t> cycles;
    };
    static Moment moment(const host::System& machine);

    std::optional<Moment> begin_, end_;
};

}  // namespace stapgen::overhead
