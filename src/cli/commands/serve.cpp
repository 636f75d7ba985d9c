#include "serve/serve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/parse.h"
#include "host/facts.h"
#include "launch/child_process.h"

namespace stapgen::cli {

namespace {

/// Of each recipe that does not say how often it reports by itself: numbers are so old at most.
constexpr const char* interval = "5";

bool has_field(const recipe::Recipe& recipe, schema::FieldType type) {
    return std::ranges::find(recipe.record.fields, type, &schema::Field::type) != recipe.record.fields.end();
}

/// What it prints does not grow with the packets.
bool can_go_on(const recipe::Recipe& recipe) {
    using schema::FieldType;
    const bool counts_drops = has_field(recipe, FieldType::address) && has_field(recipe, FieldType::count);
    return recipe.record.aggregates || counts_drops || recipe.source == recipe::Source::network_counters;
}

base::Result<void> check_goes_on(const recipe::Recipe& recipe, const recipe::Catalog& catalog) {
    if (can_go_on(recipe)) return {};
    std::vector<std::string> others;
    for (const auto& other : catalog.recipes) {
        if (can_go_on(other)) others.push_back(other.name);
    }
    return base::bad_input(
        fmt::format("{} cannot be served: its script prints each record, and does not aggregate", recipe.name),
        fmt::format("those that can: {}", fmt::join(others, ", ")));
}

/// What serve itself says to each recipe, or what would end it.
base::Result<void> check_options(const std::string& typed, const Options& options) {
    const auto& plan = options.measure.plan;
    const auto& present = options.measure.present;
    const std::initializer_list<std::pair<bool, const char*>> used{
        {plan.duration.has_value(), "--duration"},
        {plan.intervals.has_value(), "--count"},
        {plan.output.has_value(), "--output"},
        {plan.events, "--events"},
        {plan.remote, "--remote"},
        {!present.by.empty(), "--by"},
        {options.measure.live != "auto", "--live"},
        {present.format != PresentOptions().format, "--format"},
        {options.make.dry_run, "--dry-run"},
    };
    for (const auto& [is_used, option] : used) {
        if (!is_used) continue;
        return base::bad_input(
            fmt::format("'{}': {} is of a run that ends, or that prints", base::printable(typed), option),
            "leave it out: served are all of a recipe's numbers, as long as serve runs");
    }
    return {};
}

/// `typed` is a recipe with its own options: "sock-latency --port 443".
base::Result<serve::RecipeJob> job_of(const recipe::Program& program, const std::string& recipe_path,
                                      const std::string& typed) {
    std::vector<std::string> words;
    for (const auto word : base::words(typed))
        words.emplace_back(word);
    Options options;
    const auto root = command_table(program.catalog, options);
    const auto invocation = parse(root, program.catalog, words);
    if (!invocation) return tl::make_unexpected(invocation.error());
    const auto* const recipe = invocation->command->recipe;
    if (recipe == nullptr || invocation->command->parent != root.name ||
        invocation->wanted != Invocation::Wanted::action)
        return base::bad_input(fmt::format("'{}' is no recipe", base::printable(typed)),
                               "'stapgen list' shows the recipes");
    if (auto can = check_goes_on(*recipe, program.catalog); !can) return tl::make_unexpected(can.error());
    if (auto good = check_options(typed, options); !good) return tl::make_unexpected(good.error());

    serve::RecipeJob job;
    job.name = recipe->name;
    job.counters = recipe->counters;
    job.argv = {host::own_program().string()};
    if (!recipe_path.empty()) job.argv.insert(job.argv.end(), {"--recipe-path", recipe_path});
    job.argv.insert(job.argv.end(), words.begin(), words.end());
    job.argv.insert(job.argv.end(), {"--remote", "--quiet"});
    if (recipe->record.aggregates && !options.make.aggregate) job.argv.emplace_back("--aggregate");
    if (!options.make.interval && !recipe->interval_s) job.argv.insert(job.argv.end(), {"--interval", interval});
    for (const char* name : {"STAPGEN_STAP", "STAPGEN_RECIPE_PATH", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}) {
        if (const char* value = std::getenv(name)) job.environment[name] = value;
    }
    return job;
}

base::Result<void> serve_recipes(const Call& call) {
    const auto& [program, root, command, options] = call;
    serve::Job job;
    for (const auto& typed : options.words) {
        auto recipe = job_of(program, options.recipe_path, typed);
        if (!recipe) return tl::make_unexpected(recipe.error());
        if (std::ranges::find(job.recipes, recipe->name, &serve::RecipeJob::name) != job.recipes.end()) {
            return base::bad_input(fmt::format("{} is there twice", recipe->name),
                                   "a recipe's name is the label of its numbers: a second serve has another port");
        }
        job.recipes.push_back(*std::move(recipe));
    }
    auto listen = serve::parse_endpoint(options.serve.listen);
    if (!listen) return tl::make_unexpected(listen.error());
    job.listen = *std::move(listen);
    if (options.serve.otlp) {
        auto url = serve::parse_otlp_url(*options.serve.otlp);
        if (!url) return tl::make_unexpected(url.error());
        job.otlp = *std::move(url);
    }
    job.native_schema = static_cast<int>(options.serve.native_schema.value_or(job.native_schema));
    job.max_series = options.serve.max_series;
    if (options.make.dry_run) {
        std::cout << "# listens on " << serve::text_of(job.listen) << ", and keeps running\n";
        for (const auto& recipe : job.recipes)
            std::cout << base::shell_quoted(recipe.argv) << '\n';
        return {};
    }
    return serve::serve(*launch::this_machine(), job);
}

}  // namespace

CommandSpec serve_command(Options& options) {
    CommandSpec command{serve_recipes, "stapgen", "serve", "Measure on and on, for Prometheus and OpenTelemetry"};
    command.notes =
        "A recipe with options of its own is one word, in quotes; options are split at blanks.\n"
        "A recipe that fails is tried again, later each time; its state is a metric.\n"
        "There is no TLS and no user: docs/serve.md.\n";
    command.examples = {"stapgen serve sock-latency dropwatch",
                        "stapgen serve 'rx-latency --port 443 --budget 2%' --listen 0.0.0.0:9752"};
    auto& serve = options.serve;
    command.options = joined({
        {option("recipe", "RECIPE", groups::arguments, "What is measured: recipes that aggregate, and dropwatch", "",
                &options.words, {.required = true}),
         option("--listen", "HOST:PORT", groups::output, "Where metrics are to be had, by HTTP",
                "an address of this machine; 0.0.0.0 or [::] is all of them", &serve.listen, {}),
         {"--otlp", "URL", groups::output, "Push them there as well, by OTLP over HTTP", "http only; every 15 s",
          &serve.otlp},
         option("--native-schema", "N", groups::more_output, "How fine native histograms are, 0 to 8",
                "5: within 2.4 %; 8: within 0.5 %, and eight times as many buckets", &serve.native_schema,
                {.range = Range{0, 8}, .default_value = "5"}),
         option("--max-series", "N", groups::more_output, "So many series at most of all that is measured",
                "the first ones stay; a histogram is one", &serve.max_series, {.range = Range{1, 1000000}})},
        dry_run_option(options.make.dry_run),
    });
    return command;
}

}  // namespace stapgen::cli
