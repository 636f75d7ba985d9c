#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/record.h"

namespace stapgen::analyze {

struct ProbeCost {
    std::string point;
    std::int64_t hits = 0;
    std::int64_t cycles = 0;      ///< of all hits
    std::int64_t max_cycles = 0;  ///< of one
};

/// What the probes cost by SystemTap's own clock, `stap -t`. The way into a handler (a breakpoint, a jump) is not in
/// it.
struct Cost {
    std::vector<ProbeCost> probes;  ///< a row for each point; empty: not measured
    /// Set by the caller, as the next three; 0: not known.
    double cycles_per_s = 0;
    std::int64_t measured_ns = 0;  ///< how long the probes were there
    std::int64_t cpus = 0;
    std::optional<std::int64_t> expected_hits;  ///< by the recipe's [cost], of the traffic there was meanwhile

    void add(const decode::ProbeTimes& times);
    /// Another run's.
    Cost& operator+=(const Cost& other);

    [[nodiscard]] std::int64_t hits() const;
    [[nodiscard]] std::int64_t cycles() const;
    /// Of one CPU's time: 1 is all of it; nothing where it is not known how many cycles a second has.
    [[nodiscard]] std::optional<double> share(std::int64_t cycles) const;
    [[nodiscard]] std::optional<double> ns(std::int64_t cycles) const;

  private:
    void add_row(const ProbeCost& probe);
};

/// One in so many sockets was measured.
struct Sample {
    std::int64_t one_in = 1;     ///< 0: several runs with several samples
    std::int64_t estimated = 0;  ///< records there would be of all sockets, if each had as many

    Sample& operator+=(const Sample& other);
};

}  // namespace stapgen::analyze
