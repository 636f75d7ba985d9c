#include "session/plan.h"

#include <fmt/format.h>

#include "host/facts.h"

namespace stapgen::session {

namespace {

/// The shortest run that is aggregated if nothing else is asked for.
constexpr std::chrono::seconds long_run{60};

}  // namespace

void put_origin(const host::System& machine, const MeasurePlan& plan, recording::Setup& setup) {
    setup.host = host::host_name(machine);
    setup.kernel.release = machine.running_release();
    setup.filters = plan.filters.as_typed;
    setup.command = host::own_command(machine);
}

base::Result<Aggregation> aggregation_of(const recipe::Recipe& recipe, bool asked, const MeasurePlan& plan) {
    if (!recipe.record.aggregates) return Aggregation{};
    const auto option = report::single_records_option(plan.presentation, plan.events);
    if (asked && !option.empty()) {
        return base::bad_input(
            fmt::format(
                "--aggregate and {0}: aggregated in the kernel there are no single records, which {0} is made of",
                option),
            "leave one of them out");
    }
    if (asked) return Aggregation{true, {}};
    if (!option.empty() || plan.duration.value_or(std::chrono::nanoseconds(0)) < long_run) return Aggregation{};
    return Aggregation{true, plan.quiet ? ""
                                        : "a run of 60 s or more: records are aggregated in the kernel, with the same "
                                          "percentiles and without groups; --events prints every packet, --by thread "
                                          "has groups"};
}

}  // namespace stapgen::session
