#include "overhead/probe_cost.h"

#include <unistd.h>

#include <cmath>

#include "host/clocks.h"
#include "overhead/estimate.h"

namespace stapgen::overhead {

CostWatch::Moment CostWatch::moment(const host::System& machine) {
    return {host::read_event_counters(machine), host::read_cycles()};
}

void CostWatch::begin(const host::System& machine) {
    begin_ = moment(machine);
}

void CostWatch::end(const host::System& machine) {
    if (begin_ && !end_) end_ = moment(machine);
}

void CostWatch::put_into(analyze::Cost& cost, const recipe::Cost* expected) const {
    if (cost.probes.empty() || !end_) return;
    const std::chrono::duration<double> passed = end_->events.at - begin_->events.at;
    cost.measured_ns = std::llround(passed.count() * 1e9);
    cost.cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
    if (begin_->cycles && passed.count() > 0) {
        cost.cycles_per_s = static_cast<double>(*end_->cycles - *begin_->cycles) / passed.count();
    }
    if (expected != nullptr) cost.expected_hits = std::llround(expected_hits(*expected, begin_->events, end_->events));
}

}  // namespace stapgen::overhead
