#include "session/run.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/terminal.h"
#include "base/units.h"
#include "host/facts.h"
#include "launch/counting.h"
#include "report/model/account_text.h"
#include "session/losses.h"
#include "session/measurement.h"

namespace stapgen::session {

namespace {

/// Whether all that a message says of skipped probes is in skipped_text().
bool is_in_losses(const launch::Diagnosis& message, const launch::Losses& losses) {
    return message.id == "missed-kprobe" || message.id == "missed-kretprobe" ||
           (message.id == "errors-skipped" && losses.errors == 0);
}

}  // namespace

launch::LoadJob load_job_of(const host::Target& target, const std::filesystem::path& module, const MeasurePlan& plan) {
    launch::LoadJob job;
    job.target = target;
    job.cache = base::cache_directory();
    job.options.module = module;
    job.options.target_id = plan.filters.target_id;
    job.options.buffer_mb = plan.buffer_mb;
    job.options.globals = plan.filters.globals;
    return job;
}

base::Result<void> measure(const host::System& machine, const recipe::Catalog& catalog, launch::LoadJob job,
                           const std::string& name, const MeasurePlan& plan, Recorder* recorder) {
    Measurement measurement(machine, catalog, name, plan, recorder);
    job.handlers = measurement.handlers();
    if (!plan.quiet) {
        for (const auto& line : host::left_module_warnings(machine))
            base::tell(line);
    }
    measurement.begin_loading();
    auto end = launch::load(machine, job);
    if (!end) return tl::make_unexpected(end.error());
    const auto measured = measurement.measured();
    auto shown = measurement.finish({end->losses, end->broke_off, end->ending.interrupted});
    const bool asked = end->ending.interrupted || end->ending.was_stopped;
    if (!plan.quiet && !asked && !end->failure && (plan.duration || plan.intervals)) {
        const auto after =
            fmt::format("after {}, before {} was over", base::format_duration(measured), plan.duration ? "-d" : "-n");
        base::tell(measurement.is_closed() ? fmt::format("the script ended {}", after)
                                           : fmt::format("the run ended {}: somebody ended stapio", after));
    }
    if (!plan.quiet) {
        for (const auto& message : end->messages) {
            if (!is_in_losses(message, end->losses))
                base::tell(message.remedy.empty() ? message.cause : message.cause + "; " + message.remedy);
        }
        if (const auto skipped = report::skipped_text(transport_of(end->losses)); !skipped.empty()) base::tell(skipped);
    }
    for (const auto& line : end->cleanup)
        base::tell(line);
    if (end->failure) return tl::make_unexpected(*end->failure);
    if (end->ending.gave_up) {
        return base::failed("SystemTap was not given the time to end; the report may lack the last records",
                            "press Ctrl-C once and let it finish");
    }
    if (!shown || recorder == nullptr) return shown;
    return recorder->outcome();
}

base::Result<void> measure_counters(const host::System& machine, const recipe::Catalog& catalog,
                                    host::CounterLines& lines, const std::string& name,
                                    std::chrono::milliseconds interval, const MeasurePlan& plan, Recorder* recorder) {
    Measurement measurement(machine, catalog, name, plan, recorder);
    const auto ending = launch::count(lines, interval, measurement.handlers());
    auto shown = measurement.finish({{}, {}, ending.interrupted});
    if (!shown || recorder == nullptr) return shown;
    return recorder->outcome();
}

}  // namespace stapgen::session
