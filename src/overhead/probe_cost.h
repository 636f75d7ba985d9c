#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "analyze/cost.h"
#include "host/net_counters.h"
#include "host/system.h"
#include "recipe/recipe.h"

namespace stapgen::overhead {

/// What SystemTap does not say of the probes' cost: how long they were there, how fast its clock is, and what traffic
/// there was meanwhile.
class CostWatch {
  public:
    void begin(const host::System& machine);
    /// The first call counts.
    void end(const host::System& machine);
    /// Into what was measured, if anything was. `expected` may be null.
    void put_into(analyze::Cost& cost, const recipe::Cost* expected) const;

  private:
    struct Moment {
        host::EventCounters events;
        std::optional<std::uint64_t> cycles;
    };
    static Moment moment(const host::System& machine);

    std::optional<Moment> begin_, end_;
};

}  // namespace stapgen::overhead
