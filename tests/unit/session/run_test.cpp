// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/run.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <iostream>
#include <sstream>
#include <utility>

#include "base/files.h"
#include "fakes/system/fake_system.h"
#include "host/facts.h"
#include "overhead/overhead.h"

using namespace stapgen;

namespace {

/// What `stap -t` says behind the last line: 1,009 hits of a probe.
constexpr std::string_view run_with_cost =
    "stapgen\t4\tmine\tm\tcost:stage\n"
    "ready\t1795205723413791752\t1000\n"
    "m\t701\n"
    "end\t1795205724661541936\tseen=1\treported=1\n"
    "kprobe.function(\"ip_rcv\"), (x.stp:3:1), hits: 1009, cycles: 601min/701avg/907max\n";

}  // namespace

TEST_CASE("what a hit cost is remembered of a run that measured all packets") {
    const auto folder = base::PrivateDirectory::create().value();
    REQUIRE(::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1) == 0);
    const auto said = (folder.path() / "said").string();
    REQUIRE(base::create_file(said, run_with_cost));
    recipe::Recipe recipe;
    recipe.name = "mine";
    recipe.record = {{"m", 0, {{"cost", schema::FieldType::stage}}}};
    recipe.cost.emplace().instructions = 1009;
    const host::FakeSystem machine;
    const auto is_measured = [&](const session::MeasurePlan& plan) {
        host::Target target;
        target.staprun = FAKE_STAP;
        auto job = session::load_job_of(target, "/nowhere/fake.ko", plan);
        job.environment = {{"FAKE_STAP", "replay"}, {"FAKE_STAP_LINES", said}, {"FAKE_STAP_GO", said}};
        std::ostringstream report;
        auto* const out = std::cout.rdbuf(report.rdbuf());
        const auto done = session::measure(machine, {{recipe}, {}}, std::move(job), "mine", plan, nullptr);
        std::cout.rdbuf(out);
        return done.has_value();
    };
    session::MeasurePlan plan;
    plan.quiet = true;
    plan.duration = std::chrono::nanoseconds(1);
    plan.filters.used = {{"--port", {"stapgen_filter"}}};
    CHECK(is_measured(plan));
    CHECK_FALSE(overhead::hit_cost_of(recipe, false, machine.release).measured);
    plan.filters.used.clear();
    CHECK(is_measured(plan));
    CHECK(overhead::hit_cost_of(recipe, false, machine.release).measured == host::read_cycles().has_value());
    ::unsetenv("XDG_CACHE_HOME");
}
