// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "recipe/catalog.h"

using namespace stapgen;

namespace {

using Texts = std::map<std::string, std::string>;

/// A recipe's beginning, and what stands behind it.
std::string named(const std::string& name, const std::string& top, const std::string& more) {
    return fmt::format(
        "name = \"{}\"\nsummary = \"s\"\n{}\n[record]\ntag = \"{}\"\nfields = [\"time:time\", \"dev:text\"]\n{}", name,
        top, name, more);
}

const std::string rx = named("rx", "filters = [\"packet\"]", R"(
[[stages]]
name = "drv-ip"
help = "of rx"
[[stages]]
name = "tcp-app"
type = "stage,thread"
help = "of rx, too"
parts = ["stack", "asleep"]
[[parameters]]
name = "who"
type = "bool"
default = false
help = "who it was"
fields = ["by:text"]
[cost]
hits = { "softnet.processed" = 5 }
instructions = 750
[stap]
macros = ["MAXACTION=1000"]
)");
const std::string tx = named("tx", "", R"(
[[stages]]
name = "qdisc"
help = "of tx"
)");

recipe::Catalog catalog_of(const Texts& texts) {
    const auto folder = base::PrivateDirectory::create().value();
    for (const auto& [name, text] : texts) {
        std::filesystem::create_directories(folder.path() / name);
        REQUIRE(base::create_file(folder.path() / name / "recipe.toml", text));
    }
    return recipe::load_catalog({{folder.path()}});
}

recipe::Recipe made(const std::string& text) {
    return recipe::find_recipe(catalog_of({{"rx", rx}, {"tx", tx}, {"mine", text}}), "mine").value();
}

base::Error refused(const std::string& text) {
    return recipe::find_recipe(catalog_of({{"rx", rx}, {"tx", tx}, {"mine", text}}), "mine").error();
}

const std::string both = "includes = [\"rx\", \"tx\"]";

bool ends(const base::Error& error, std::string_view end) {
    return error.what.ends_with(end);
}

}  // namespace

TEST_CASE("stages are the record's last fields, with their types, and their parts follow them") {
    const auto of_rx = recipe::find_recipe(catalog_of({{"rx", rx}}), "rx").value();
    CHECK(of_rx.header().line() ==
          "stapgen\t5\trx\trx\ttime:time\tdev:text\tdrv-ip:stage\ttcp-app:stage,thread\ttcp-app.stack:stage\t"
          "tcp-app.asleep:stage");
    const auto with = [](const std::string& stage) { return refused(named("mine", "", "[[stages]]\n" + stage)); };
    CHECK(ends(with("name = \"dev\"\nhelp = \"h\""), "recipe.toml:8:8: 'dev' is given twice"));
    CHECK(ends(with("name = \"A\"\nhelp = \"h\""), "recipe.toml:8:8: 'A' is not a stage's name"));
    CHECK(ends(with("name = \"a\"\nhelp = \"h\"\ntype = \"int\""), "recipe.toml:10:8: 'int' is no type of a stage"));
    CHECK(ends(with("name = \"a\"\nhelp = \"h\"\nparts = [\"b.c\"]"),
               "recipe.toml:10:9: 'b.c' is not a part of a stage"));
    CHECK(ends(with("name = \"a\"\nhelp = \"h\"\ntype = \"value\"\nparts = [\"b\"]"), "'b' is not a part of a stage"));
    CHECK(ends(with("name = \"a\"\nhelp = \"h\"\n[[stages]]\nname = \"a\"\nhelp = \"h\""), "'a' is given twice"));
}

TEST_CASE("a recipe that includes others has the fields, stages and options of both") {
    const auto mine = made(named("mine", both, ""));
    CHECK(mine.header().line() ==
          "stapgen\t5\tmine\tmine\ttime:time\tdev:text\tdrv-ip:stage\ttcp-app:stage,thread\ttcp-app.stack:stage\t"
          "tcp-app.asleep:stage\tqdisc:stage");
    REQUIRE(mine.stages.size() == 3);
    CHECK(mine.stages[2].help == "of tx");
    REQUIRE(mine.parameters.size() == 2);
    CHECK(mine.parameters[0].name == "who");
    CHECK(mine.parameters[1].name == "no-parts");
    CHECK_FALSE(mine.cost);
    CHECK(mine.filters.empty());
    CHECK(mine.macros == std::vector<std::string>{"INTERRUPTIBLE=0", "MINSTACKSPACE=0"});
    CHECK(mine.includes.size() == 2);
}

TEST_CASE("a stage that a recipe has itself is its own") {
    const auto mine = made(named("mine", both, R"(
[[stages]]
name = "qdisc"
type = "stage,cpu"
help = "my own"
)"));
    CHECK(mine.record.fields[2].attribute == schema::Attribute::cpu);
    CHECK(mine.record.fields.size() == 7);
    CHECK(mine.stages[0].help == "my own");
    CHECK(mine.stages.size() == 3);
}

TEST_CASE("a stage or an option may be that of another recipe") {
    const auto mine = made(named("mine", "", R"(
[[stages]]
name = "qdisc"
type = "stage,cpu"
from = "tx"
[[parameters]]
name = "who"
from = "rx"
fields = []
)"));
    CHECK(mine.stages.at(0).help == "of tx");
    CHECK(mine.record.fields.at(2).attribute == schema::Attribute::cpu);
    CHECK(mine.parameters.at(0).help == "who it was");
    CHECK(mine.parameters[0].fields.empty());
    CHECK(made(named("mine", "", "[[parameters]]\nname = \"who\"\nfrom = \"rx\"")).parameters.at(0).fields.size() == 1);
    CHECK(ends(refused(named("mine", "", "[[stages]]\nname = \"drv-ip\"\nfrom = \"tx\"")),
               "recipe.toml:9:8: tx has no 'drv-ip'"));
    CHECK(ends(refused(named("mine", "", "[[parameters]]\nname = \"who\"\nfrom = \"rx\"\nhelp = \"mine\"")),
               "recipe.toml:10:1: unknown key 'help' in [[parameters]]"));
}

TEST_CASE("macros that each script needs are there unless the recipe sets them") {
    const auto macros = [](const char* list) {
        return made(named("mine", "", fmt::format("[stap]\nmacros = [{}]", list))).macros;
    };
    CHECK(macros("") == std::vector<std::string>{"INTERRUPTIBLE=0", "MINSTACKSPACE=0"});
    CHECK(macros(R"("X=5", "INTERRUPTIBLE=1")") ==
          std::vector<std::string>{"MINSTACKSPACE=0", "X=5", "INTERRUPTIBLE=1"});
}

TEST_CASE("a recipe says what is in its script's own counts") {
    const auto mine = made(named("mine", "", "[account]\nempty = \"no data\"\n\"lost.evicted\" = \"no room\""));
    REQUIRE(mine.account.size() == 2);
    CHECK(mine.account[0].name == "empty");
    CHECK(mine.account[1].help == "no room");
    CHECK(ends(refused(named("mine", "", "[account]\nEmpty = \"no data\"")), "'Empty' is not a count"));
    CHECK(ends(refused(named("mine", "", "[account]\nlost.evicted = \"no room\"")), "'lost' must be a text in quotes"));
}

TEST_CASE("what cannot be included is refused where it is named") {
    const auto with = [](const std::string& top) { return refused(named("mine", top, "")); };
    CHECK(ends(with("includes = [\"r\"]"), "mine/recipe.toml:3:12: there is no recipe 'r'"));
    CHECK(ends(with("includes = [\"../rx\"]"), "mine/recipe.toml:3:12: '../rx' is not a recipe name"));
    CHECK(ends(with("includes = [\"mine\"]"), "mine takes from other recipes itself"));
    CHECK(ends(refused("name = \"mine\"\nsummary = \"s\"\nreads = \"network-counters\"\nincludes = [\"rx\"]\n[record]\n"
                       "tag = \"c\"\nfields = [\"a:text\", \"b:text\", \"c:count\"]\n"),
               "'includes' is for a script, and a recipe with 'reads' has none"));
    CHECK(ends(refused("name = \"mine\"\nsummary = \"s\"\nincludes = [\"rx\"]\n[record]\ntag = \"c\"\n"
                       "fields = [\"by:text\"]\n"),
               "--who adds the field 'by', which [record] has"));
}

TEST_CASE("what is included is the recipe beside it, and only one that may be read") {
    const auto own = base::PrivateDirectory::create().value(), ours = base::PrivateDirectory::create().value();
    const auto add = [](const base::PrivateDirectory& folder, const std::string& name, const std::string& text) {
        std::filesystem::create_directories(folder.path() / name);
        REQUIRE(base::create_file(folder.path() / name / "recipe.toml", text));
    };
    add(ours, "rx", rx);
    add(ours, "two", named("two", "includes = [\"rx\"]", ""));
    add(own, "rx", named("rx", "", "[[stages]]\nname = \"other\"\nhelp = \"h\"\n"));
    add(own, "three", named("three", "includes = [\"rx\"]", ""));
    add(own, "tx", tx);
    add(ours, "four", named("four", "includes = [\"tx\"]", ""));
    const auto stages_of = [](const recipe::Catalog& catalog, const char* name) {
        return recipe::find_recipe(catalog, name).value().stages.size();
    };
    const auto catalog = recipe::load_catalog({{own.path()}, {ours.path()}});
    CHECK(stages_of(catalog, "two") == 2);
    CHECK(stages_of(catalog, "three") == 1);
    CHECK(stages_of(catalog, "four") == 1);
    const auto nobody = [](const std::filesystem::path&) -> base::Result<void> { return base::bad_input("no"); };
    const auto checked = recipe::load_catalog({{own.path(), nobody}, {ours.path()}});
    CHECK(stages_of(checked, "two") == 2);
    CHECK(ends(recipe::find_recipe(checked, "four").error(), "the recipe 'tx' is ignored: no"));
}
