// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/files.h"
#include "recipe/recipe.h"

using namespace stapgen;

namespace {

/// A recipe with a parameter "slow".
base::Result<recipe::Recipe> with_parameter(std::string_view keys) {
    const auto folder = base::PrivateDirectory::create().value();
    const auto text = fmt::format(
        "name = \"mine\"\nsummary = \"One line\"\n[record]\ntag = \"r\"\nfields = [\"time:time\"]\n"
        "[[parameters]]\nname = \"slow\"\nhelp = \"h\"\ndefault = \"0s\"\ntype = \"duration\"\n{}\n",
        keys);
    REQUIRE(base::create_file(folder.path() / "recipe.toml", text));
    return recipe::load_recipe(folder.path(), {});
}

}  // namespace

TEST_CASE("a duration may stand for one of its own where it is given without one") {
    CHECK(with_parameter("bare = \"10ms\"").value().parameters.back().bare_value == "10ms");
    CHECK_FALSE(with_parameter("bare = 10"));
    CHECK_FALSE(with_parameter("bare = \"soon\""));
}

TEST_CASE("a parameter may have a macro, as [stap] has them") {
    CHECK(with_parameter("macro = \"SLOW=1\"").value().parameters.back().macro == "SLOW=1");
    CHECK_FALSE(with_parameter("macro = \"slow=1\""));
    CHECK_FALSE(with_parameter("macro = \"SLOW\""));
    CHECK_FALSE(with_parameter("macro = \"SLOW=1 -g\""));
}
