// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/files.h"
#include "recipe/recipe.h"

using namespace stapgen;

namespace {

base::Result<recipe::Recipe> with(std::string_view fields) {
    const auto folder = base::PrivateDirectory::create().value();
    const auto text =
        fmt::format("name = \"mine\"\nsummary = \"One line\"\n[record]\ntag = \"r\"\nfields = [{}]\n", fields);
    REQUIRE(base::create_file(folder.path() / "recipe.toml", text));
    return recipe::load_recipe(folder.path(), {});
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a stage's parts follow it, and --no-parts leaves them out") {
    const auto mine = with(R"("time:time", "a-b:stage", "a-b.c-d:stage")").value();
    CHECK(mine.has_parts());
    CHECK(mine.header().version == 5);
    CHECK(recipe::complete_arguments(mine, {}).value().at("no-parts") == "false");
    const auto without = mine.asked_by({{"no-parts", "true"}});
    CHECK_FALSE(without.has_parts());
    CHECK(without.record.fields.size() == 2);
    CHECK(without.header().version == 4);
    const auto plain = with(R"("a-b:stage")").value();
    CHECK_FALSE(plain.has_parts());
    CHECK(recipe::complete_arguments(plain, {}).value().empty());
}

TEST_CASE("a part needs its stage, and a name of two words") {
    for (const char* fields :
         {R"("a-b:stage", "a.c:stage")", R"("a-b.c:stage", "a-b:stage")", R"("a-b:stage", "a-b.c:int")"}) {
        CAPTURE(fields);
        CHECK(has(with(fields).error().what, "is a part, and '"));
    }
    for (const char* field : {"a-b.:stage", "a-b.c.d:stage", ".c:stage"})
        CHECK(has(with(fmt::format(R"("a-b:stage", "{}")", field)).error().what,
                  fmt::format("recipe.toml:5:10: '{}' is not a field", field)));
}

TEST_CASE("a flag may add fields to the record and hits to the cost") {
    const auto with_flag = [](std::string_view flag) {
        return with(fmt::format(R"("a-b:stage", "a-b.c:stage", "n:int"]
[[parameters]]
name = "more"
type = "bool"
default = false
help = "h"
{}
[cost]
instructions = 1
hits = {{ "x.y" = 2 }}
parts_hits = {{ "x.y" = 3 }}
#)",
                                flag));
    };
    const auto mine =
        with_flag("fields = [\"what:text\", \"ns:int\"]\nhits = { \"x.y\" = 1, \"stat.intr\" = 0.5 }").value();
    CHECK(mine.record.fields.size() == 3);
    const auto more = mine.asked_by({{"more", "true"}});
    CHECK(more.header().line() == "stapgen\t5\tmine\tr\ta-b:stage\ta-b.c:stage\tn:int\twhat:text\tns:int");
    CHECK(more.cost->hits == std::map<std::string, double>{{"stat.intr", 0.5}, {"x.y", 3}});
    CHECK(mine.asked_by({{"more", "false"}}).cost->hits == std::map<std::string, double>{{"x.y", 2}});

    // What made a recording is in its header.
    CHECK(mine.as_recorded(mine.header()).record.fields.size() == 3);
    CHECK_FALSE(mine.as_recorded(mine.header()).cost->parts_hits.empty());
    const auto bare = mine.asked_by({{"more", "true"}, {"no-parts", "true"}});
    const auto found = mine.as_recorded(bare.header());
    CHECK(found.record.fields.size() == 4);
    CHECK(found.cost->parts_hits.empty());
    CHECK(found.cost->hits == more.cost->hits);

    const auto error_of = [&](std::string_view flag) { return with_flag(flag).error().what; };
    CHECK(has(error_of("fields = [\"n:int\"]"), "'n' is given twice"));
    CHECK(has(error_of("fields = [\"x:stage\"]"),
              "stages, their parts and values are fields of [record]: a flag adds others"));
    CHECK(has(error_of("fields = [\"x\"]"), "'x' is not a field"));
    CHECK(has(error_of("hits = { \"x\" = 1 }"), "'x' is not a counter name"));
    for (const auto* other :
         {"[[parameters]]\nname = \"k\"\nhelp = \"h\"\ntype = \"int\"\ndefault = 1\nhits = { \"x.y\" = 1 }",
          "[[parameters]]\nname = \"k\"\nhelp = \"h\"\ntype = \"bool\"\ndefault = true\nfields = [\"z:int\"]"})
        CHECK(has(error_of(other), "is for a parameter of type bool that is false by default"));
}

TEST_CASE("the flag 'parts' is there for parts that are divided only where it is given") {
    const auto with_parts = [](std::string_view fields) {
        return with(fmt::format(R"({}, "total:stage"]
[[parameters]]
name = "parts"
type = "bool"
default = false
help = "h"
#)",
                                fields));
    };
    const auto mine = with_parts(R"("a-b:stage", "a-b.c:stage")").value();
    const auto given = mine.asked_by({{"parts", "true"}}), plain = mine.asked_by({});
    CHECK(given.has_parts());
    CHECK_FALSE(plain.has_parts());
    CHECK(mine.as_recorded(given.header()).has_parts());
    CHECK_FALSE(mine.as_recorded(plain.header()).has_parts());
    CHECK(std::ranges::find(mine.parameters, recipe::no_parts, &recipe::Parameter::name) == mine.parameters.end());
    CHECK(has(with_parts(R"("a-b:stage")").error().what, "the flag 'parts' is for stages that have parts"));
}
