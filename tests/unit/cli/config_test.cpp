// SPDX-License-Identifier: GPL-2.0-or-later
#include "argv.h"

using namespace stapgen;
using test::CommandLine;

namespace {

constexpr const char* settings = R"(
[options]
percentiles = "50,99"
top = 3
format = "csv"
dev = "eth0"
quiet = true

[command.reads]
top = 5
interval = 2
max-packets = 7
stap-option = ["-k", "-u"]

[command."fleet report"]
top = 11

[profile.web]
port = 443
top = 13
kind = "udp"
json = false
)";

}  // namespace

TEST_CASE("settings stand for what was not typed: a profile's, a command's, those of all") {
    const CommandLine reads("reads", settings);
    const auto& run = reads.options<cli::RunOptions>();
    CHECK(run.measure.present.shown.top == 5);
    CHECK(run.measure.present.shown.percentiles.size() == 2);
    CHECK(run.measure.present.format == "csv");
    CHECK(run.measure.filters.at("dev") == "eth0");
    CHECK(run.measure.plan.quiet);
    CHECK(run.make.interval == std::chrono::seconds(2));
    CHECK(run.make.arguments.at("max-packets") == "7");
    CHECK(run.make.stap_options == std::vector<std::string>{"-k", "-u"});
    CHECK_FALSE(run.measure.filters.contains("port"));

    const CommandLine web("reads --profile web", settings);
    const auto& of_web = web.options<cli::RunOptions>();
    CHECK(of_web.measure.present.shown.top == 13);
    CHECK(of_web.measure.filters.at("port") == "443");
    CHECK(of_web.make.arguments.at("kind") == "udp");
    CHECK(of_web.measure.present.format == "csv");

    // A command that has no such option passes it over; one of two words is known by both.
    const CommandLine report("report a --profile web", settings);
    const auto& of_files = report.options<cli::ReportOptions>();
    CHECK(of_files.present.shown.top == 13);
    CHECK(of_files.replay.selection.options == "--port 443");
    CHECK(CommandLine("fleet report d", settings).options<cli::FleetReportOptions>().present.shown.top == 11);
}

TEST_CASE("what is typed is stronger, and so is what it does not go with") {
    const CommandLine typed("reads --top 1 --interval 9 --json --stap-option -v --profile web", settings);
    const auto& run = typed.options<cli::RunOptions>();
    CHECK(run.measure.present.shown.top == 1);
    CHECK(run.make.interval == std::chrono::seconds(9));
    CHECK(run.measure.present.format == "json");
    CHECK(run.make.stap_options == std::vector<std::string>{"-v"});
    // --rotate needs --output.
    CHECK(CommandLine("reads", "[options]\nrotate = \"64MB\"\n").error() == "");
    CHECK(CommandLine("reads -o a", "[options]\nrotate = \"64MB\"\n")
              .options<cli::RunOptions>()
              .measure.plan.rotation.bytes > 0);
    CHECK(CommandLine("reads -d 5 --remote", settings).options<cli::RunOptions>().measure.present.shown.top == 20);
}

TEST_CASE("what is wrong in a file is said with line and column") {
    const auto error = [](const char* config, const char* typed = "reads") {
        return CommandLine(typed, config).error();
    };
    CHECK(error("[options]\ntpo = 3\n") == "config.toml:2:7: 'tpo' is not an option that can be set here");
    CHECK(CommandLine("list", "[options]\nports = 3\n").hint() == "did you mean 'port'?");
    CHECK(error("[options]\ntop = \"many\"\n") == "config.toml:2:7: top: not a value of --top");
    CHECK(error("[options]\ntop = [1, 2]\n") == "config.toml:2:7: top: not a value of --top");
    CHECK(error("[options]\nduration = \"soon\"\n").starts_with("config.toml:2:12: duration: "));
    CHECK(error("[options]\nguru = true\n") == "config.toml:2:8: 'guru' is not an option that can be set here");
    CHECK(error("[command.report]\nduration = 5\n") ==
          "config.toml:2:12: 'duration' is not an option that can be set here");
    CHECK(error("[command.raeds]\ntop = 5\n") == "config.toml:1:1: there is no command 'raeds'");
    CHECK(error("top = 5\n").starts_with("config.toml:1:"));
    CHECK(error("[options\n").starts_with("config.toml:1:"));
    CHECK(error("[profile.web]\nport = 1\n", "reads --profile wob") == "--profile: there is no [profile.wob]");
    // Also in a profile that was not chosen.
    CHECK(error("[profile.web]\ntop = {}\n").starts_with("config.toml:2:"));
}
