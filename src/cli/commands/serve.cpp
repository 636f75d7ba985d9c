// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/parse.h"
#include "host/facts.h"
#include "launch/child_process.h"
#include "launch/module_file.h"

namespace stapgen::cli {

namespace {

/// The interval of a recipe that has none of its own: numbers are so old at most.
constexpr const char* interval = "5";
/// Conditions of --when are checked so often.
constexpr const char* keeping_interval = "1";

bool counts_drops(const schema::Schema& schema) {
    return schema::has_type(schema, schema::FieldType::address) && schema::has_type(schema, schema::FieldType::count);
}

/// Whether its output does not grow with the packets.
bool can_go_on(const recipe::Recipe& recipe) {
    return recipe.record.aggregates || counts_drops(recipe.record) || recipe.source == recipe::Source::network_counters;
}

base::Result<void> check_goes_on(const recipe::Recipe& recipe, const recipe::Catalog& catalog) {
    if (can_go_on(recipe)) return {};
    std::vector<std::string> others;
    for (const auto& other : catalog.recipes) {
        if (can_go_on(other)) others.push_back(other.name);
    }
    return base::bad_input(
        fmt::format("{} cannot be served: its script prints each record instead of aggregating", recipe.name),
        fmt::format("recipes that can: {}", fmt::join(others, ", ")));
}

/// The recipe that a module was made of, if its numbers can be served.
base::Result<std::string> recipe_of_module(const std::string& file) {
    STAPGEN_LET(const auto info, launch::read_module_info(file));
    const auto header = schema::parse_header(info.header);
    if (!header || header->schemas.empty())
        return base::bad_input(fmt::format("{} was not built from a recipe", file),
                               "name a file made by stapgen build");
    if (header->aggregated || counts_drops(header->schemas.front())) return header->recipe;
    return base::bad_input(
        fmt::format("{} cannot be served: it prints each record instead of aggregating", file),
        fmt::format("if its recipe can aggregate: stapgen build {} --aggregate -o FILE.ko", header->recipe));
}

/// Options that serve itself gives each recipe, or that would end it.
base::Result<void> check_options(const std::string& typed, const MeasureOptions& measure, bool dry_run) {
    const auto& plan = measure.plan;
    const auto& present = measure.present;
    const std::initializer_list<std::pair<bool, const char*>> used{
        {plan.duration.has_value(), "--duration"},
        {plan.intervals.has_value(), "--count"},
        {plan.output.has_value(), "--output"},
        {plan.events, "--events"},
        {plan.remote, "--remote"},
        {!present.by.empty(), "--by"},
        {measure.live != "auto", "--live"},
        {present.format != PresentOptions().format, "--format"},
        {dry_run, "--dry-run"},
    };
    for (const auto& [is_used, option] : used) {
        if (!is_used) continue;
        return base::bad_input(fmt::format("'{}': {} is for a run that ends or prints", base::printable(typed), option),
                               "omit it: serve measures continuously and serves all numbers");
    }
    return {};
}

/// `typed` is a recipe, or a module made of one, with its own options: "sock-latency --port 443".
base::Result<serve::RecipeJob> job_of(const recipe::Program& program, const std::string& recipe_path,
                                      const std::string& typed) {
    STAPGEN_LET(auto words, shell_words(typed));
    const bool is_module = !words.empty() && launch::names_file(words.front());
    if (is_module) words.insert(words.begin(), "exec");
    const auto root = command_table(program.catalog);
    STAPGEN_LET(const auto invocation, parse(root, program.catalog, words));
    const auto* run = values_of<RunOptions>(*invocation.command);
    const auto* exec = is_module ? values_of<ExecOptions>(*invocation.command) : nullptr;
    if ((run == nullptr && exec == nullptr) || invocation.wanted != Invocation::Wanted::action)
        return base::bad_input(fmt::format("'{}' is not a recipe", base::printable(typed)),
                               "'stapgen list' shows the recipes");
    const auto& measure = run != nullptr ? run->measure : exec->measure;
    STAPGEN_TRY(check_options(typed, measure, run != nullptr && run->make.dry_run));

    serve::RecipeJob job;
    job.argv = {host::own_program().string()};
    if (!recipe_path.empty()) job.argv.insert(job.argv.end(), {"--recipe-path", recipe_path});
    job.argv.insert(job.argv.end(), words.begin(), words.end());
    job.argv.insert(job.argv.end(), {"--remote", "--quiet"});
    if (run == nullptr) {
        STAPGEN_LET(auto name, recipe_of_module(exec->module));
        job.name = std::move(name);
    } else {
        const auto& recipe = *invocation.command->recipe;
        STAPGEN_TRY(check_goes_on(recipe, program.catalog));
        job.name = recipe.name;
        const bool keeps = measure.keep.plan.before.count() > 0;
        const bool aggregates = recipe.record.aggregates && (!keeps || recipe.record.keeps);
        if (aggregates && !run->make.aggregate) job.argv.emplace_back("--aggregate");
        const auto* own_interval = keeps ? keeping_interval : interval;
        if (!run->make.interval && (keeps || !recipe.interval_s))
            job.argv.insert(job.argv.end(), {"--interval", own_interval});
    }
    if (auto recipe = recipe::find_recipe(program.catalog, job.name)) job.recipe = *std::move(recipe);
    for (const char* name : {"STAPGEN_STAP", "STAPGEN_RECIPE_PATH", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}) {
        if (const char* value = std::getenv(name)) job.environment[name] = value;
    }
    job.environment["STAPGEN_CONFIG"] = "";
    return job;
}

base::Result<void> serve_recipes(const Call& call, const ServeOptions& options) {
    serve::Job job;
    for (const auto& typed : options.recipes) {
        STAPGEN_LET(auto recipe, job_of(call.program, call.recipe_path, typed));
        if (std::ranges::find(job.recipes, recipe.name, &serve::RecipeJob::name) != job.recipes.end()) {
            return base::bad_input(fmt::format("{} is given twice", recipe.name),
                                   "the recipe's name labels its numbers: run a second serve on another port");
        }
        job.recipes.push_back(std::move(recipe));
    }
    STAPGEN_LET(auto listen, serve::parse_endpoint(options.listen));
    job.listen = std::move(listen);
    if (options.otlp) {
        STAPGEN_LET(auto url, serve::parse_otlp_url(*options.otlp));
        job.otlp = std::move(url);
    }
    job.native_schema = static_cast<int>(options.native_schema.value_or(job.native_schema));
    job.max_series = options.max_series;
    if (options.dry_run) {
        base::print_comment(fmt::format("listens on {}, and keeps running", serve::text_of(job.listen)));
        for (const auto& recipe : job.recipes)
            base::print_command(base::shell_quoted(recipe.argv));
        return {};
    }
    return serve::serve(*launch::this_machine(), job);
}

}  // namespace

CommandSpec serve_command() {
    CommandSpec command{"stapgen", "serve", "Measure continuously, for Prometheus and OpenTelemetry"};
    auto& options = add_values<ServeOptions>(command, serve_recipes);
    command.notes =
        "Put a recipe and its options into quotes, as one argument; use inner quotes for values with blanks.\nWithout "
        "a compiler, name a module made by 'stapgen build' instead of a recipe.\nA recipe that fails is restarted with "
        "growing delays; its state is a metric. Where no recipe can run at all, serve ends.\nThere is no TLS and no "
        "authentication: docs/guide/always-on.md.\n";
    command.examples = {"stapgen serve sock-latency dropwatch",
                        "stapgen serve 'rx-latency --port 443 --budget 2%' --listen 0.0.0.0:9752",
                        "stapgen serve \"sock-latency --comm 'tmux: server'\"", "stapgen serve 'rx.ko --port 443'"};
    command.options = joined({
        {option("recipe", "RECIPE", groups::arguments, "dropwatch, losses, softnet, and any recipe that aggregates",
                "or FILE.ko built from one", &options.recipes, {.required = true}),
         option("--listen", "HOST:PORT", groups::output, "The HTTP address for metrics",
                "0.0.0.0 or [::]: all addresses", &options.listen, {}),
         {"--otlp", "URL", groups::output, "Also push metrics there, by OTLP over HTTP", "not https; every 15 s",
          &options.otlp},
         option("--native-schema", "N", groups::more_output, "Resolution of native histograms, 0 to 8",
                "5: 2.4 %; 8: 0.5 % and eight times as many buckets", &options.native_schema,
                {.range = Range{0, 8}, .default_value = "5"}),
         option("--max-series", "N", groups::more_output, "The maximum number of series",
                "the first ones stay; a histogram counts as one", &options.max_series, {.range = Range{1, 1000000}})},
        dry_run_option(options.dry_run),
    });
    return command;
}

}  // namespace stapgen::cli
