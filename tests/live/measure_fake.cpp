// What `stapgen exec` does once the machine has been found able, with a fake staprun in place of SystemTap's: a machine
// without loadable modules can run it. measure_fake FAKE_STAP [run options]

#include <CLI/App.hpp>
#include <cstdlib>
#include <iostream>

#include "base/terminal.h"
#include "cli/options/action.h"
#include "cli/options/run_options.h"
#include "fakes/system/fake_system.h"
#include "session/run.h"

using namespace stapgen;

namespace {

base::Result<void> measure(const std::string& fake_stap, const cli::MeasureOptions& options) {
    auto plan = cli::plan_of(options);
    if (!plan) return tl::make_unexpected(plan.error());
    const host::FakeSystem machine;
    host::Target target;
    target.staprun = fake_stap;
    auto job = session::load_job_of(target, "/nowhere/fake.ko", *plan);
    for (const char* name : {"FAKE_STAP", "FAKE_STAP_LINES", "FAKE_STAP_GO", "FAKE_STAP_STDERR"}) {
        if (const char* value = std::getenv(name)) job.environment[name] = value;
    }
    return session::measure(machine, {}, job, "fake", *plan, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app;
    std::string fake_stap;
    cli::MeasureOptions options;
    app.add_option("fake_stap", fake_stap)->required();
    cli::add_measure_options(app, options);
    cli::add_events(app, options);
    CLI11_PARSE(app, argc, argv);
    const auto done = measure(fake_stap, options);
    std::cout.flush();
    if (done) return 0;
    base::show_error(done.error());
    return cli::exit_code_of(done.error());
}
