// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <functional>

#include "argv.h"
#include "cli/help/help.h"

using namespace stapgen;
using cli::Invocation;
using test::CommandLine;

TEST_CASE("list and show take a format, show a recipe") {
    test::check<cli::ListOptions>("stapgen list",
                                  {{"list", [](const cli::ListOptions& o) { return o.format == "table"; }},
                                   {"list --json", [](const cli::ListOptions& o) { return o.format == "json"; }}});
    test::check<cli::ShowOptions>(
        "stapgen show",
        {{"show reads -j", [](const cli::ShowOptions& o) { return o.recipe == "reads" && o.format == "json"; }}});
    test::check({
        {"list reads more", "unexpected argument 'more'"},
        {"show", "RECIPE is missing"},
    });
}

TEST_CASE("doctor takes recipes and a machine's options") {
    test::check<cli::DoctorOptions>(
        "stapgen doctor", {{"doctor", [](const cli::DoctorOptions& o) { return o.recipes.empty() && !o.warm; }},
                           {"doctor --warm a b -r 6.1 --no-workaround all", [](const cli::DoctorOptions& o) {
                                return o.warm && o.recipes == std::vector<std::string>{"a", "b"} &&
                                       o.make.release == "6.1" && o.make.without_workarounds.front() == "all";
                            }}});
    test::check({
        {"doctor --warm -j", "use --warm or --json, not both"},
        {"doctor --dry-run", "unknown option '--dry-run'"},
    });
}

TEST_CASE("new-recipe, help and man take their words") {
    test::check<cli::NewRecipeOptions>(
        "stapgen new-recipe",
        {{"new-recipe a --into .", [](const cli::NewRecipeOptions& o) { return o.name == "a" && o.into == "."; }}});
    test::check<cli::HelpOptions>("stapgen help", {{"help build reads", [](const cli::HelpOptions& o) {
                                                        return o.words == std::vector<std::string>{"build", "reads"};
                                                    }}});
    test::check<cli::ManOptions>(
        "stapgen man",
        {{"man --installed d", [](const cli::ManOptions& o) { return o.installed && o.folder == "d"; }}});
    test::check({{"new-recipe", "NAME is missing"}, {"man", "FOLDER is missing"}});
}

TEST_CASE("fleet run takes hosts, filters and what a recipe is built with") {
    test::check<cli::FleetRunOptions>("stapgen fleet run reads",
                                      {{"fleet run reads --hosts a,b -d 5 -o d --batch 2 --sudo --port 80 --kind udp",
                                        [](const cli::FleetRunOptions& o) {
                                            return o.hosts == "a,b" && o.batch == 2 && o.sudo &&
                                                   o.filters.at("port") == "80" && o.output == "d" &&
                                                   o.make.arguments.at("kind") == "udp";
                                        }}});
    test::check({
        {"fleet", "fleet: no command given", "'stapgen fleet --help'"},
        {"fleet compare", "FOLDER is missing"},
        {"fleet walk", "fleet has no command 'walk'"},
        {"fleet run", "run: no recipe given"},
        {"fleet run raeds", "there is no recipe 'raeds'", "did you mean 'reads'?"},
        {"fleet run reads -d 5 -o d", "--hosts is missing"},
        {"fleet run reads --hosts a -o d", "--duration is missing"},
        {"fleet run reads --hosts a -d 5", "--output is missing"},
        {"fleet run reads --hosts a -d 5 -o d -x 7", "unknown option '-x'"},
        {"fleet run reads --hosts a -d 5 -o d --batch 0", "--batch: '0' is not a whole number, 1 or more"},
    });
}

TEST_CASE("fleet report and fleet compare take a folder") {
    test::check<cli::FleetCompareOptions>(
        "stapgen fleet compare", {{"fleet compare d --threshold 20% -P 50 -j", [](const cli::FleetCompareOptions& o) {
                                       return o.folder == "d" && o.threshold == 0.2 && o.percentiles.size() == 1 &&
                                              o.present.format == "json";
                                   }}});
    test::check<cli::FleetReportOptions>("stapgen fleet report",
                                         {{"fleet report d --by host", [](const cli::FleetReportOptions& o) {
                                               return o.folder == "d" && o.present.by == "host";
                                           }}});
}

TEST_CASE("for a verb that is none the nearest one is named") {
    test::check({
        {"broken", "broken/recipe.toml: no", "mend it"},
        {"list --recipe-path x", "unknown option '--recipe-path'"},
    });
}

TEST_CASE("help and version go before all that is wrong with the values") {
    const auto wanted = [](std::string_view typed) {
        const CommandLine line(typed);
        REQUIRE(line.error() == "");
        return std::pair(line.result->wanted, cli::full_name(*line.result->command));
    };
    using Wanted = Invocation::Wanted;
    CHECK(wanted("--help") == std::pair(Wanted::short_help, std::string("stapgen")));
    CHECK(wanted("reads -n x -h") == std::pair(Wanted::short_help, std::string("stapgen reads")));
    CHECK(wanted("build reads --help-all") == std::pair(Wanted::whole_help, std::string("stapgen build reads")));
    CHECK(wanted("--version") == std::pair(Wanted::version, std::string("stapgen")));
}

TEST_CASE("where recipes are stands before the verb") {
    const auto beginning = cli::beginning_of({"--recipe-path", "a", "--recipe-path=b", "list"});
    CHECK(beginning.recipe_path == "b");
    CHECK(beginning.verb == 3);
    CHECK(cli::beginning_of({"--recipe-path"}).verb == 0);
    CHECK(cli::beginning_of({"list", "--recipe-path", "a"}).recipe_path == "");
}

namespace {

void for_each_command(const cli::CommandSpec& command, const std::function<void(const cli::CommandSpec&)>& look) {
    look(command);
    for (const auto& one : command.commands)
        for_each_command(one, look);
}

}  // namespace

TEST_CASE("options that exclude or need each other are options of the same command") {
    const CommandLine line("list");
    std::size_t rules = 0;
    for_each_command(line.root, [&](const cli::CommandSpec& command) {
        CAPTURE(cli::full_name(command));
        for (const auto& option : command.options) {
            CAPTURE(option.names);
            for (const auto& name : option.rules.excludes) {
                const auto* other = cli::option_named(command, name);
                REQUIRE(other != nullptr);
                CHECK(std::ranges::count(other->rules.excludes, cli::long_name(option)) == 1);
                ++rules;
            }
            for (const auto& name : option.rules.needs) {
                CHECK(cli::option_named(command, name) != nullptr);
                ++rules;
            }
        }
    });
    CHECK(rules > 20);
}

TEST_CASE("what one command is given is no value of another") {
    const CommandLine line("man some-folder");
    CHECK(line.options<cli::ManOptions>().folder == "some-folder");
    CHECK(cli::values_of<cli::ExportOptions>(*line.result->command) == nullptr);
    for_each_command(line.root, [](const cli::CommandSpec& command) {
        CAPTURE(cli::full_name(command));
        if (command.name != "man") CHECK(cli::whole_help(command).find("some-folder") == std::string::npos);
    });
}

TEST_CASE("no command has two options of one name") {
    const CommandLine line("list");
    for_each_command(line.root, [](const cli::CommandSpec& command) {
        std::vector<std::string> names;
        for (const auto& option : command.options) {
            for (const auto& name : cli::names_of(option))
                names.push_back(name);
        }
        std::ranges::sort(names);
        CAPTURE(cli::full_name(command));
        CHECK(std::ranges::adjacent_find(names) == names.end());
    });
}

TEST_CASE("a recipe whose name or parameter stapgen has itself is set aside, and why is said") {
    const auto clash_of = [](const std::string& name, const std::vector<std::string>& parameters) {
        recipe::Catalog catalog;
        auto& recipe = catalog.recipes.emplace_back();
        recipe.name = name;
        recipe.folder = "own/" + name;
        for (const auto& parameter : parameters)
            recipe.parameters.push_back({.name = parameter, .default_value = "1"});
        cli::set_aside_clashes(catalog);
        CHECK(catalog.recipes.size() + catalog.broken.size() == 1);
        return catalog.broken.empty() ? "" : catalog.broken.begin()->second.what;
    };
    const auto taken = [](const std::string& name) {
        return "own/a/recipe.toml: its parameter '" + name + "' needs the option --" + name +
               ", which stapgen uses itself";
    };
    CHECK(clash_of("a", {"b", "c"}) == "");
    CHECK(clash_of("list", {}) == "own/list/recipe.toml: 'list' is a command of stapgen");
    CHECK(clash_of("man", {}) == "own/man/recipe.toml: 'man' is a command of stapgen");
    CHECK(clash_of("a", {"b", "count"}) == taken("count"));
    CHECK(clash_of("a", {"standalone"}) == taken("standalone"));
    CHECK(clash_of("a", {"no-cure"}) == taken("no-cure"));
    CHECK(clash_of("a", {"help"}) == taken("help"));
    CHECK(clash_of("a", {"-x"}) == taken("-x"));
    CHECK(clash_of("a", {"b", "b"}) == "own/a/recipe.toml: two of its parameters have the same name");
}

TEST_CASE("a command line that is one text has the words that a shell makes of it") {
    using Words = std::vector<std::string>;
    const auto words = [](std::string_view typed) { return cli::shell_words(typed).value(); };
    CHECK(words("  sock-latency\t--port 443 ") == Words{"sock-latency", "--port", "443"});
    CHECK(words("--comm 'tmux: server' --comm=\"a b\"c") == Words{"--comm", "tmux: server", "--comm=a bc"});
    CHECK(words(R"(a\ b \' "\"\\\n" 'c\d' '' "" \)") == Words{"a b", "'", R"("\\n)", R"(c\d)", "", "", "\\"});
    CHECK(words("'a\"b' \"c'd\"") == Words{"a\"b", "c'd"});
    CHECK(words(" ").empty());
    for (const Words& any : {Words{"it's", "", "a\tb", "\\", "\"x\" 'y'", "$HOME", "a\nb"}, Words{}})
        CHECK(words(base::shell_quoted(any)) == any);
    CHECK(cli::shell_words("--comm 'tmux").error().what == "a quote (') is not closed: --comm 'tmux");
    for (const auto* open : {"\"", "'a\\'b'", "\"a\\\""})
        CHECK_FALSE(cli::shell_words(open));
}
