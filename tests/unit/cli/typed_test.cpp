// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/typed.h"

#include "argv.h"

using namespace stapgen;

namespace {

/// A command line's words; what was typed for the options of "stapgen reads", by their long names.
struct Taken {
    explicit Taken(const std::vector<std::string>& words) {
        for (const auto& word : words)
            typed.take(word);
        for (const auto& [option, values] : typed.given)
            given[cli::long_name(*option)] = values;
    }

    recipe::Catalog catalog = test::made_up_catalog();
    cli::CommandSpec root = cli::command_table(catalog);
    cli::Typed typed{.command = &root};
    std::map<std::string, std::vector<std::string>> given{};
};

using Given = std::map<std::string, std::vector<std::string>>;

}  // namespace

TEST_CASE("a value follows its option, an equals sign or a letter, and may begin with a dash") {
    CHECK(Taken({"reads", "--port", "80", "-x1", "--comm=a=b", "-i", "-5"}).given ==
          Given{{"--comm", {"a=b"}}, {"--interval", {"-5"}}, {"--port", {"80"}}, {"--target-tid", {"1"}}});
    CHECK(Taken({"reads", "--label", "a=1", "--label", "--"}).given == Given{{"--label", {"a=1", "--"}}});
    const Taken open({"reads", "-qx"});
    CHECK(open.given == Given{{"--quiet", {"true"}}});
    CHECK(cli::long_name(*open.typed.value_of) == "--target-tid");
}

TEST_CASE("flags stand together, for what they mean, or for what is given to them") {
    CHECK(Taken({"reads", "-qv"}).given == Given{{"--quiet", {"true"}}, {"--verbose", {"true"}}});
    CHECK(Taken({"reads", "--live", "--no-live", "--live=x"}).given == Given{{"--live", {"always", "never", "x"}}});
    CHECK(test::CommandLine("reads --quiet=no").options<cli::RunOptions>().measure.plan.quiet == false);
    CHECK(test::CommandLine("reads --quiet=perhaps").error() == "--quiet takes no value");
}

TEST_CASE("a command's arguments are taken in order, behind -- also with a dash, and what is too much is known") {
    CHECK(Taken({"compare", "a", "--", "-b"}).given == Given{{"AFTER", {"-b"}}, {"BEFORE", {"a"}}});
    const Taken much({"--port", "reads", "--bogus=1", "-qZ", "-", "--", "--quiet"});
    CHECK(much.typed.command->name == "reads");
    CHECK(much.typed.unknown == std::vector<std::string>{"--port", "--bogus=1", "-Z", "-", "--quiet"});
}

TEST_CASE("numbers are decimal") {
    const test::CommandLine line("reads -x 010 --top 007");
    CHECK(line.options<cli::RunOptions>().measure.present.shown.top == 7);
    CHECK(test::CommandLine("reads --top 0x10").error() == "--top: '0x10' is not a whole number");
}
