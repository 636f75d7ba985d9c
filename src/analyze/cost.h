#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/record.h"
#include "recording/facts.h"

namespace stapgen::analyze {

struct ProbeCost {
    std::string point;
    std::int64_t hits = 0;
    std::int64_t cycles = 0;      ///< of all hits
    std::int64_t max_cycles = 0;  ///< of one
};

/// What the probes cost by SystemTap's own clock, `stap -t`. The way into a handler (a breakpoint, a jump) is not in
/// it. The clock is set by the caller.
struct Cost : recording::ProbeClock {
    std::vector<ProbeCost> probes;  ///< a row for each point; empty: not measured

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
