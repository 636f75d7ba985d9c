// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/keeping.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/limits.h"

namespace stapgen::cli {

namespace {

/// What is wrong with them by the recipe's own text; the rest is known once the module's first lines are.
base::Result<void> check_conditions(const recipe::Recipe& recipe, const module::MakeOptions& make,
                                    const session::KeepPlan& keep) {
    std::vector<std::string> kinds;
    if (recipe.source == recipe::Source::script) {
        STAPGEN_LET(const auto text, base::read_found(recipe.folder / "script.stp", base::limits::recipe_bytes));
        constexpr std::string_view declares = "fields\\t";
        for (auto at = text.find(declares); at != std::string::npos; at = text.find(declares, at)) {
            at += declares.size();
            kinds.push_back(text.substr(at, text.find('\\', at) - at));
        }
    }
    for (const auto& condition : keep.conditions)
        STAPGEN_TRY(when::check_condition(condition, recipe.asked_by(make.arguments).header(), kinds));
    return {};
}

}  // namespace

base::Result<void> use_keeping(const recipe::Recipe& recipe, module::MakeOptions& make, session::KeepPlan& keep) {
    STAPGEN_TRY(check_conditions(recipe, make, keep));
    if (make.aggregate && !recipe.record.keeps) {
        return base::bad_input(fmt::format("--aggregate and --keep exclude each other in {}", recipe.name),
                               "omit --aggregate: what is kept are its printed records");
    }
    make.aggregate = recipe.record.keeps;
    if (recipe.record.keeps) {
        if (!make.keep) make.keep = keep.memory;
    } else if (!make.interval) {
        make.interval = module::live_interval;
        keep.own_intervals = true;
    }
    return {};
}

}  // namespace stapgen::cli
