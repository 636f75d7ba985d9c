// SPDX-License-Identifier: GPL-2.0-or-later
#include "argv.h"
#include "fakes/system/fake_system.h"

using namespace stapgen;
using namespace std::chrono_literals;
using cli::ExecOptions;
using cli::RunOptions;
using test::CommandLine;

namespace {

base::Result<session::MeasurePlan> plan_of(std::string_view typed) {
    const CommandLine line(typed);
    if (!line.result) return tl::make_unexpected(line.result.error());
    const auto* exec = cli::values_of<ExecOptions>(*line.result->command);
    const auto& measure = exec != nullptr ? exec->measure : line.options<RunOptions>().measure;
    return cli::plan_of(host::FakeSystem(), measure, true);
}

}  // namespace

TEST_CASE("a recipe is run with filters, times and outputs") {
    test::check<RunOptions>(
        "stapgen reads",
        {
            {"reads", [](const RunOptions& o) { return o.measure.present.format == "table" && o.make.stap == "stap"; }},
            {"reads -x 1", [](const RunOptions& o) { return o.measure.filters.at("target-tid") == "1"; }},
            {"reads --target-pid=2", [](const RunOptions& o) { return o.measure.filters.at("target-pid") == "2"; }},
            {"reads --comm a --port 80 --sample 4",
             [](const RunOptions& o) {
                 return o.measure.filters.at("comm") == "a" && o.measure.filters.at("port") == "80" &&
                        o.measure.filters.at("sample") == "4";
             }},
            {"reads --filter udp --addr ::1 --dev lo --mark 1/3",
             [](const RunOptions& o) {
                 return o.measure.filters.at("filter") == "udp" && o.measure.filters.at("addr") == "::1" &&
                        o.measure.filters.at("dev") == "lo" && o.measure.filters.at("mark") == "1/3";
             }},
            {"reads -i 1 -d 10 -n 3",
             [](const RunOptions& o) {
                 return o.make.interval == 1s && o.measure.plan.duration == 10s && o.measure.plan.intervals == 3;
             }},
            {"reads -o a.rec --rotate 1MB,2 -s 4MiB",
             [](const RunOptions& o) {
                 return o.measure.plan.output == "a.rec" && o.measure.plan.rotation.bytes == 1'000'000 &&
                        o.measure.plan.buffer_mb == 4;
             }},
            {"reads -j", [](const RunOptions& o) { return o.measure.present.format == "json"; }},
            {"reads --live", [](const RunOptions& o) { return o.measure.live == "always"; }},
            {"reads --live --no-live", [](const RunOptions& o) { return o.measure.live == "never"; }},
            {"reads --live=auto --color never",
             [](const RunOptions& o) { return o.measure.live == "auto" && o.measure.present.color == "never"; }},
            {"reads -P 50 --by cpu --top 3 --slowest 0 --series --hide-benign",
             [](const RunOptions& o) {
                 const auto& present = o.measure.present;
                 return present.shown.percentiles.size() == 1 && present.by == "cpu" && present.shown.top == 3 &&
                        present.shown.slowest == 0 && present.shown.series && present.shown.hide_benign;
             }},
            {"reads -qv --events --aggregate --guru --cost --dry-run",
             [](const RunOptions& o) {
                 return o.measure.plan.quiet && o.measure.plan.verbose && o.measure.plan.events && o.make.aggregate &&
                        o.make.guru && o.make.cost && o.make.dry_run;
             }},
            {"reads --stap-option -v --module a --module b",
             [](const RunOptions& o) {
                 return o.make.stap_options == std::vector<std::string>{"-v"} &&
                        o.make.modules == std::vector<std::string>{"a", "b"};
             }},
            {"reads --no-workaround a --no-cure b",
             [](const RunOptions& o) {
                 return o.make.without_workarounds == std::vector<std::string>{"a", "b"};
             }},
            {"reads --max-packets x --brief --kind sctp",
             [](const RunOptions& o) {
                 return o.make.arguments ==
                        recipe::Arguments{{"brief", "true"}, {"kind", "sctp"}, {"max-packets", "x"}};
             }},
        });
    test::check<RunOptions>(
        "stapgen counts",
        {{"counts -i 1 --dry-run", [](const RunOptions& o) { return o.make.interval == 1s && o.make.dry_run; }}});
}

TEST_CASE("what is wrong with a run is said in the words of its options") {
    test::check({
        {"reads -x a", "--target-tid: 'a' is not a whole number", "TID is a thread"},
        {"reads -p 2 --comm a", "use --target-pid or --comm, not both"},
        {"reads -n 1 -n 2", "--count is given 2 times"},
        {"reads --top -1", "--top: '-1' is not a whole number"},
        {"reads --rotate 1MB", "--rotate needs --output"},
        {"reads -j --format csv", "use --format or --json, not both"},
        {"reads --live=x", "--live: 'x' is not one of auto, always, never"},
        {"reads --quiet=x", "--quiet takes no value"},
        {"reads --json=csv", "--json takes no value"},
        {"reads -d", "the value of -d is missing"},
        {"reads a", "unexpected argument 'a'"},
        {"counts --port 1", "unknown option '--port'", "reads has it; 'stapgen counts --help'"},
        {"counts --stap x", "unknown option '--stap'"},
        {"counts --events", "unknown option '--events'"},
        {"--bogus reads", "unknown option '--bogus'"},
    });
}

TEST_CASE("a plan has the values understood") {
    const auto plan = plan_of("reads -d 90s -n 2 -s 3MiB --by cpu -P 50 -o a.rec --rotate 1MB,2 --sample 8 -q");
    REQUIRE(plan);
    CHECK(*plan->duration == std::chrono::seconds(90));
    CHECK(plan->intervals == 2);
    CHECK(plan->buffer_mb == 3);
    CHECK(plan->presentation.by == std::vector<std::string>{"cpu"});
    CHECK(plan->presentation.percentiles.size() == 1);
    CHECK(plan->output == "a.rec");
    CHECK(plan->labels.empty());
    CHECK(plan_of("reads --label dc=fra1 --label rack=17")->labels ==
          recording::Labels{{"dc", "fra1"}, {"rack", "17"}});
    CHECK(plan_of("exec a.ko --label dc=fra1")->labels == recording::Labels{{"dc", "fra1"}});
    CHECK(plan->rotation.bytes == 1'000'000);
    CHECK(plan->filters.sample == 8);
    CHECK(!plan->live);
    CHECK(plan->notes.empty());
}

TEST_CASE("a plan's notes say what is not there, and -q leaves them out") {
    const auto plan = plan_of("reads --comm no-such-thread");
    REQUIRE(plan);
    REQUIRE(plan->notes.size() == 1);
    CHECK(plan->notes[0] == "no thread is named 'no-such-thread' now; later ones will be measured");
    CHECK(plan_of("reads --comm no-such-thread -q")->notes.empty());
}

TEST_CASE("values that make no plan are refused") {
    const std::vector<test::Wrong> cases{
        {"reads -d 5x", "'5x' is not a duration"},
        {"reads -P 101", "'101' is not a percentile"},
        {"reads -s 1", "--buffer: '1' has no unit"},
        {"reads -s 5GiB", "--buffer 5GiB: not between 1MiB and 4095MiB"},
        {"reads --sample 3", "--sample 3: not a power of two"},
        {"reads --live -q", "--live with --events, --format, -q or -v: both need the terminal"},
        {"exec a.ko --label 9=x",
         "--label '9=x': a name starts with a letter, then has letters, digits, '_', '-' and '.', at most 63 bytes"},
        {"exec a.ko -d x", "'x' is not a duration"},
    };
    for (const auto& [typed, what, hint] : cases) {
        CAPTURE(typed);
        const auto plan = plan_of(typed);
        REQUIRE(!plan);
        CHECK(plan.error().what == what);
    }
}

TEST_CASE("a long run is aggregated and says so, unless single records are asked for") {
    const auto reads = test::made_up_catalog().recipes[1];
    const auto of = [&](std::string_view typed) {
        const CommandLine line(typed);
        const auto& options = line.options<RunOptions>();
        return session::aggregation_of(reads, options.make.aggregate,
                                       *cli::plan_of(host::FakeSystem(), options.measure, true));
    };
    CHECK(of("reads -d 60")->in_kernel);
    CHECK(of("reads -d 60")->note.starts_with("a run of 60 s or more"));
    CHECK(of("reads -d 60 -q")->note == "");
    CHECK(!of("reads -d 59")->in_kernel);
    CHECK(!of("reads -d 60 --events")->in_kernel);
    CHECK(of("reads --aggregate")->in_kernel);
    CHECK(!of("reads --aggregate --events"));
}

TEST_CASE("exec takes a module and the options of a run") {
    test::check<ExecOptions>("stapgen exec", {{"exec a.ko -d 1 -x 3 -o a.rec --events -v", [](const ExecOptions& o) {
                                                   return o.module == "a.ko" && o.measure.plan.duration == 1s &&
                                                          o.measure.filters.at("target-tid") == "3" &&
                                                          o.measure.plan.output == "a.rec" && o.measure.plan.events &&
                                                          o.measure.plan.verbose;
                                               }}});
    test::check({
        {"exec", "MODULE is missing", "'stapgen exec --help'"},
        {"exec a.ko b.ko", "unexpected argument 'b.ko'"},
        {"exec a.ko --max-packets 1", "unknown option '--max-packets'",
         "--max-packets is compiled in: build again with it, 'stapgen build RECIPE --max-packets ...'"},
    });
}
