// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/plan.h"

#include <fmt/format.h>

#include "host/facts.h"
#include "recording/identity.h"

namespace stapgen::session {

namespace {

/// The shortest run that is aggregated if nothing else is asked for.
constexpr std::chrono::seconds long_run{60};

}  // namespace

recording::Setup setup_of(const host::System& machine, const MeasurePlan& plan) {
    auto setup = plan.made;
    setup.host = host::host_name(machine);
    setup.machine = host::machine_of(machine);
    setup.labels = plan.labels;
    setup.kernel.release = machine.running_release();
    setup.kernel.build_id = host::running_build_id(machine);
    setup.filters = plan.filters.as_typed;
    setup.command = host::own_command(machine);
    return setup;
}

void put_recipe(const MeasurePlan& plan, const std::string& recipe, recording::Setup& setup) {
    setup.recipe = recipe;
    setup.functions = plan.made.functions;
    setup.definition = recording::definition_of(setup);
}

base::Result<Aggregation> aggregation_of(const recipe::Recipe& recipe, bool asked, const MeasurePlan& plan) {
    if (!recipe.record.aggregates) return Aggregation{};
    const auto option = single_records_option(plan.presentation, plan.events);
    if (asked && !option.empty()) {
        return base::bad_input(fmt::format("--aggregate and {0} exclude each other: {0} needs single records", option),
                               "omit one of them");
    }
    if (asked) return Aggregation{true, {}};
    // What is kept of printed lines are single records.
    if (plan.keep || !option.empty() || plan.duration.value_or(std::chrono::nanoseconds(0)) < long_run)
        return Aggregation{};
    return Aggregation{true, plan.quiet ? ""
                                        : "a run of 60 s or more: records are aggregated in the kernel, with the same "
                                          "percentiles and without groups; --events prints every packet, --by thread "
                                          "has groups"};
}

}  // namespace stapgen::session
