// SPDX-License-Identifier: GPL-2.0-or-later
// What `stapgen exec` does once the machine has been found able, with a fake staprun in place of SystemTap's: a machine
// without loadable modules can run it. measure_fake FAKE_STAP [run options]

#include <cstdlib>
#include <iostream>

#include "base/exit_codes.h"
#include "base/terminal.h"
#include "cli/command_line.h"
#include "cli/commands/commands.h"
#include "cli/options/parse.h"
#include "cli/options/plans.h"
#include "fakes/system/fake_system.h"
#include "session/run.h"

using namespace stapgen;

namespace {

base::Result<void> measure(const std::string& fake_stap, const cli::MeasureOptions& options) {
    auto plan = cli::plan_of(*host::real_system(), options, false);
    if (!plan) return tl::make_unexpected(plan.error());
    base::print_message(plan->notes);
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
    const recipe::Catalog no_recipes;
    const auto root = cli::command_table(no_recipes);
    std::vector<std::string> words{"exec"};
    words.insert(words.end(), argv + 1, argv + argc);
    const auto parsed = cli::parse(root, no_recipes, words);
    const auto* options = parsed ? cli::values_of<cli::ExecOptions>(*parsed->command) : nullptr;
    const auto done =
        options != nullptr ? measure(options->module, options->measure) : tl::make_unexpected(parsed.error());
    std::cout.flush();
    if (done) return 0;
    base::show_error(done.error());
    return base::exit_code_of(done.error().kind);
}
