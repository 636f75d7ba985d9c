#pragma once

#include <ostream>

#include "base/result.h"
#include "cli/options/options.h"
#include "recipe/program_files.h"
#include "recipe/recipe.h"

/// What the commands do, each with the values that were typed.
namespace stapgen::cli {

base::Result<void> run(const recipe::Program& program, const recipe::Recipe& recipe, Options options);
base::Result<void> render(const recipe::Program& program, const recipe::Recipe& recipe, const Options& options);
base::Result<void> build(const recipe::Program& program, const recipe::Recipe& recipe, const Options& options);
base::Result<void> list(const recipe::Program& program, const Options& options);
base::Result<void> show(const recipe::Program& program, const Options& options);
base::Result<void> doctor(const recipe::Program& program, const Options& options);
base::Result<void> exec(const recipe::Program& program, const Options& options);
base::Result<void> report(const recipe::Program& program, const Options& options);
base::Result<void> compare(const Options& options);
base::Result<void> resolve(const Options& options);
base::Result<void> new_recipe(const recipe::Program& program, const std::vector<std::string>& taken,
                              const Options& options);

}  // namespace stapgen::cli
