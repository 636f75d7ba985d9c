// SPDX-License-Identifier: GPL-2.0-or-later
#include "argv.h"

using namespace stapgen;
using namespace std::chrono_literals;
using cli::BuildOptions;
using cli::RenderOptions;

TEST_CASE("render takes a recipe with a script, and what decides on the script") {
    test::check<RenderOptions>(
        "stapgen render reads",
        {{"render reads", [](const RenderOptions& o) { return !o.standalone && o.make.debuginfo == "auto"; }},
         {"render reads --standalone -r 6.1 -i 2 --aggregate --debuginfo never --max-packets 3",
          [](const RenderOptions& o) {
              return o.standalone && o.make.release == "6.1" && o.make.interval == 2s && o.make.aggregate &&
                     o.make.debuginfo == "never" && o.make.arguments.at("max-packets") == "3";
          }},
         {"render reads --brief=false --local false", [](const RenderOptions& o) {
              return o.make.arguments == recipe::Arguments{{"brief", "false"}, {"local", "false"}};
          }}});
    test::check({
        {"render", "render: no recipe given", "'stapgen render --help'"},
        {"render counts", "render counts: counts has no script; stapgen reads the kernel's counters itself"},
        {"render broken", "broken/recipe.toml: no", "mend it"},
        {"render reads -o a", "unknown option '-o'", "'stapgen render reads --help'"},
        {"render reads --debuginfo x", "--debuginfo: 'x' is not one of auto, never, require"},
        {"render reads --brief=x", "--brief takes no value"},
    });
}

TEST_CASE("build takes a recipe with a script and a module's file") {
    test::check<BuildOptions>(
        "stapgen build reads",
        {{"build reads -o a.ko -q --dry-run --budget 5% --all-modules --symbols k", [](const BuildOptions& o) {
              return o.output == "a.ko" && o.quiet && o.make.dry_run && o.make.budget == 0.05 && o.make.all_modules &&
                     o.make.symbols == "k";
          }}});
    test::check({
        {"build counts -o a.ko", "build counts: counts has no script; stapgen reads the kernel's counters itself"},
    });
}
