#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "analyze/cost.h"
#include "base/result.h"
#include "host/net_counters.h"
#include "host/system.h"
#include "recipe/recipe.h"

namespace stapgen::overhead {

/// What a hit of a probe costs, and how that is known.
struct HitCost {
    double ns = 0;
    bool measured = false;  ///< by --cost on this machine and kernel, else assumed
    double sampled = 0;     ///< the part of it, 0 to 1, that is spared where a socket is not in the sample; assumed
};

/// As last measured here, else by the recipe's instructions; `aggregates`: of a script that does.
HitCost hit_cost_of(const recipe::Recipe& recipe, bool aggregates, const std::string& release);

/// Keeps it for the next prediction. Only what was measured of all packets tells what a hit costs.
void remember_hit_cost(const std::string& recipe, bool aggregates, const std::string& release,
                       const analyze::Cost& cost);

/// What a recipe's probes cost where nothing is filtered, at the traffic of one moment.
struct ExpectedCost {
    double hits_per_s = 0;
    HitCost hit;
    std::int64_t cpus = 1;
    double busiest_part = 1;  ///< of the packets, that the CPU received that received most
    double seconds = 0;       ///< that the traffic was counted for

    /// Of their time, 0 to 1.
    [[nodiscard]] double of_all_cpus() const { return of_one() / static_cast<double>(cpus); }
    /// Of the CPU's that receives most packets: as if each packet stayed where it is received.
    [[nodiscard]] double of_busiest() const { return of_one() * busiest_part; }

  private:
    [[nodiscard]] double of_one() const { return hits_per_s * hit.ns / 1e9; }
};

/// Hits of all probes between two readings.
double expected_hits(const recipe::Cost& cost, const host::EventCounters& before, const host::EventCounters& after);
ExpectedCost expected_cost(const recipe::Cost& cost, const HitCost& hit, const host::EventCounters& before,
                           const host::EventCounters& after, std::int64_t cpus);

/// Counts this machine's traffic for `period`. Nothing if the recipe does not say what it costs.
std::optional<ExpectedCost> expect_now(const host::System& machine, const recipe::Recipe& recipe, bool aggregates,
                                       std::chrono::milliseconds period);

/// How long the traffic is counted: for a person who waits; for a run, which takes longer anyway.
inline constexpr std::chrono::milliseconds sample_window{250}, budget_sample_window{1000};

/// "1,234 hits/s, 0.7 % of 4 CPUs, 2.9 % of the busiest; ...".
std::string sentence_of(const ExpectedCost& expected);
/// "2.9 %", two digits.
std::string percent(double part);

}  // namespace stapgen::overhead
