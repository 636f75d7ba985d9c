#include "session/origin.h"

#include "host/facts.h"
#include "host/identity.h"

namespace stapgen::session {

analyze::Origin origin_of(const host::System& machine, const MeasurePlan& plan) {
    return {host::host_name(machine), machine.running_release(), host::own_command(machine), plan.filters.as_typed};
}

}  // namespace stapgen::session
