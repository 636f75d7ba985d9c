// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/commands/commands.h"

namespace stapgen::cli {

namespace {

CommandSpec of_each_script(CommandSpec command, const recipe::Catalog& catalog,
                           CommandSpec (*command_of)(const recipe::Recipe&)) {
    for (const auto& recipe : catalog.recipes) {
        if (recipe.source == recipe::Source::script) command.commands.push_back(command_of(recipe));
    }
    return command;
}

std::vector<CommandSpec> own_commands(const recipe::Catalog& catalog) {
    CommandSpec render{"stapgen", "render", "Print a recipe's SystemTap script without running it"};
    render.examples = {"stapgen render rx-latency",
                       "stapgen render dropwatch --interval 1 --standalone >dropwatch.stp"};
    CommandSpec build{"stapgen", "build", "Compile a recipe to a module, to run elsewhere with exec"};
    build.notes = "It takes the recipe's own options.\n";
    build.examples = {"stapgen build rx-latency -o rx.ko",
                      "stapgen build rx-latency -r 6.1.0-56-amd64 --symbols kallsyms.gz -o rx.ko"};
    CommandSpec check{"stapgen", "check", "Compile a recipe and report its errors; needs no root"};
    check.notes =
        "Reads recipe.toml and compiles the script with the defaults or the given values,\nprinting and, if the recipe "
        "can, aggregating. It loads and keeps nothing.\n";
    check.examples = {"stapgen check tcp-calls"};
    check.rare = true;
    for (const auto& recipe : catalog.recipes)
        check.commands.push_back(check_command(recipe));
    return {why_command(catalog),
            list_command(),
            show_command(),
            doctor_command(),
            of_each_script(std::move(render), catalog, render_command),
            of_each_script(std::move(build), catalog, build_command),
            std::move(check),
            exec_command(),
            fleet_command(catalog),
            serve_command(),
            report_command(),
            compare_command(),
            between_command(),
            resolve_command(),
            export_command(),
            query_command(),
            mcp_command(),
            new_recipe_command(),
            help_command(),
            man_command(),
            complete_command()};
}

/// The parser acts on them.
const OptionSpecs help_options{
    {"-h,--help", "", groups::general, "Show the common options", "", {}},
    {"--help-all", "", groups::general, "Show all options, as 'stapgen help' does", "", {}},
};

/// Of what is asked for where it is needed first: before commands are made, or where files are read.
base::Result<void> take(const std::string& /*typed*/) {
    return {};
}

/// The options of each command.
void add_general_options(CommandSpec& command) {
    if (command.action != nullptr && !command.options.empty()) {
        command.options.push_back({"--profile", "NAME", groups::general, "Options of [profile.NAME] in config.toml",
                                   "~/.config/stapgen/config.toml or /etc/stapgen/config.toml", take});
    }
    command.options.insert(command.options.begin(), help_options.begin(), help_options.end());
    for (auto& one : command.commands)
        add_general_options(one);
}

/// The word in the way of a recipe among the commands; empty if nothing is.
std::string clash_of(const recipe::Recipe& recipe, const std::vector<CommandSpec>& own) {
    if (std::ranges::find(own, recipe.name, &CommandSpec::name) != own.end())
        return fmt::format("'{}' is a command of stapgen", recipe.name);
    auto without = recipe;
    without.parameters.clear();
    std::vector<CommandSpec> commands{run_command(without), render_command(without), build_command(without),
                                      check_command(without), fleet_run_command(without)};
    for (auto& command : commands)
        add_general_options(command);
    std::set<std::string> names;
    for (const auto& parameter : recipe.parameters) {
        const auto is_taken = [&](const CommandSpec& command) {
            return option_named(command, "--" + parameter.name) != nullptr;
        };
        if (parameter.name.starts_with('-') || std::ranges::any_of(commands, is_taken)) {
            return fmt::format("its parameter '{0}' needs the option --{0}, which stapgen uses itself", parameter.name);
        }
        if (!names.insert(parameter.name).second) return "two of its parameters have the same name";
    }
    return {};
}

}  // namespace

CommandSpec command_table(const recipe::Catalog& catalog) {
    CommandSpec root{"", "stapgen", "Where does the time go, and where do packets die, in the kernel's network stack?"};
    root.notes =
        "stapgen RECIPE writes the SystemTap script of a measurement, compiles and loads\nit, and reports the result; "
        "Ctrl-C ends it. 'stapgen report' reads recordings\n(-o) and the output of other tools, on any machine. "
        "--recipe-path and --version\ncome before the recipe or the command.\n";
    root.examples = {"stapgen why --port 443 -d 10", "stapgen losses -d 10"};
    root.options = {
        {"--version",
         "",
         groups::general,
         "The version, the build, and whether the recipes were changed since",
         "",
         {}},
        {"--recipe-path", "DIR[:DIR...]", groups::general, "Folders with your own recipes, separated by :", "", take}};
    for (const auto& recipe : catalog.recipes)
        root.commands.push_back(run_command(recipe));
    std::ranges::move(own_commands(catalog), std::back_inserter(root.commands));
    add_general_options(root);
    return root;
}

void set_aside_clashes(recipe::Catalog& catalog) {
    const auto own = own_commands({});
    std::erase_if(catalog.recipes, [&](const recipe::Recipe& recipe) {
        const auto clash = clash_of(recipe, own);
        if (clash.empty()) return false;
        const auto what = fmt::format("{}: {}", (recipe.folder / "recipe.toml").string(), clash);
        catalog.broken.emplace(recipe.name, base::Error{base::ErrorKind::bad_input, what,
                                                        "choose another name; docs/reference/recipes.md"});
        return true;
    });
}

}  // namespace stapgen::cli
