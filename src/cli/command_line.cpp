#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/doing.h"

namespace stapgen::cli {

namespace {

/// The recipes make the subcommands, so where they are must be known before the command line is parsed.
std::string recipe_path_of(const std::vector<std::string>& arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--recipe-path" && i + 1 < arguments.size()) return arguments[i + 1];
        if (arguments[i].starts_with("--recipe-path=")) return arguments[i].substr(14);
    }
    return {};
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& commands) {
    std::vector<std::string> names;
    for (const auto* command : commands)
        names.push_back(command->get_name());
    return names;
}

/// A recipe whose name or parameters are taken by stapgen itself would take the whole command line down with it.
void set_aside_clashes(Program& program) {
    const std::vector<std::string> taken{"build", "exec", "list", "render", "resolve", "show"};
    std::vector<recipe::Recipe> usable;
    for (auto& recipe : program.catalog.recipes) {
        std::string clash;
        if (std::find(taken.begin(), taken.end(), recipe.name) != taken.end()) {
            clash = fmt::format("'{}' is a command of stapgen", recipe.name);
        } else {
            try {
                CLI::App trial;
                Action none;
                add_run_command(trial, program, recipe, none);
                const Program alone{program.files, {{recipe}, {}}};
                add_build_command(trial, alone, none);
                add_render_command(trial, alone, none);
            } catch (const CLI::Error& error) {
                clash = error.what();
            }
        }
        if (clash.empty()) {
            usable.push_back(std::move(recipe));
        } else {
            const auto what = fmt::format("{}: {}", (recipe.folder / "recipe.toml").string(), clash);
            program.catalog.broken.emplace(
                recipe.name, base::Error{base::ErrorKind::bad_input, what, "choose another name; docs/recipes.md"});
        }
    }
    program.catalog.recipes = std::move(usable);
}

/// The first word is the verb; without this a slip in it would be called an unexpected argument.
base::Result<void> check_verb(const CLI::App& app, const recipe::Catalog& catalog,
                              const std::vector<std::string>& arguments) {
    std::size_t first = 0;
    while (first < arguments.size() && arguments[first] == "--recipe-path")
        first += 2;
    while (first < arguments.size() && arguments[first].starts_with("--recipe-path="))
        ++first;
    if (first >= arguments.size() || arguments[first].starts_with("-")) return {};
    const auto& verb = arguments[first];
    const auto names = names_of(app.get_subcommands([](const CLI::App*) { return true; }));
    if (std::find(names.begin(), names.end(), verb) != names.end()) {
        const bool takes_recipe = verb == "render" || verb == "build";
        if (!takes_recipe || first + 1 >= arguments.size() || arguments[first + 1].starts_with("-")) return {};
        const auto recipe = recipe::find_recipe(catalog, arguments[first + 1]);
        return recipe ? base::Result<void>() : tl::make_unexpected(recipe.error());
    }
    if (const auto broken = catalog.broken.find(verb); broken != catalog.broken.end()) {
        return tl::make_unexpected(broken->second);
    }
    const auto meant = base::did_you_mean(verb, names);
    return base::bad_input(fmt::format("there is no recipe or command '{}'", base::printable(verb)),
                           meant ? fmt::format("did you mean '{}'? 'stapgen list' shows the recipes", *meant)
                                 : "'stapgen list' shows the recipes, 'stapgen --help' the commands");
}

base::Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App* used = &app;
    std::string words = "stapgen";
    while (!used->get_subcommands().empty()) {
        used = used->get_subcommands().front();
        words += " " + used->get_name();
    }
    base::Error result{base::ErrorKind::bad_input, error.what(), {}};
    const auto help = fmt::format("'{} --help' shows what there is", words);
    result.hint = help;
    if (const auto left = used->remaining(true);
        !left.empty() && error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
        const auto typed = left.front().substr(0, left.front().find('='));
        result.what = fmt::format("{} '{}'", typed.starts_with("-") ? "unknown option" : "unexpected argument",
                                  base::printable(typed));
        std::vector<std::string> options;
        for (const auto* option : used->get_options()) {
            for (const auto& name : option->get_lnames())
                options.push_back("--" + name);
        }
        if (const auto meant = base::did_you_mean(typed, options); meant && typed.starts_with("--")) {
            result.hint = fmt::format("did you mean '{}'? {}", *meant, help);
        }
    }
    return result;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
    auto files = find_program_files();
    if (!files) {
        show_error(files.error());
        return exit_code_of(files.error());
    }
    Program program{*files, recipe::load_catalog(recipe_folders(recipe_path_of(arguments), *files))};
    set_aside_clashes(program);

    CLI::App app{"stapgen: where does the time go, and where do packets die, in this kernel's network stack?"};
    app.name("stapgen");
    app.footer(
        "Examples:\n  stapgen rx-latency --target-tid 31337\n  stapgen dropwatch --interval 5\n"
        "  stapgen resolve --map System.map 0xffffffff8149a8ed");
    app.set_version_flag("--version", std::string("stapgen ") + STAPGEN_VERSION);
    std::string recipe_path;
    app.add_option("--recipe-path", recipe_path, "Folders with recipes of your own, with : between them");
    app.require_subcommand(1);

    Action action;
    for (const auto& recipe : program.catalog.recipes)
        add_run_command(app, program, recipe, action);
    add_list_command(app, program, action);
    add_show_command(app, program, action);
    add_render_command(app, program, action);
    add_build_command(app, program, action);
    add_exec_command(app, program, action);
    add_resolve_command(app, action);

    if (auto known = check_verb(app, program.catalog, arguments); !known) {
        show_error(known.error());
        return exit_code_of(known.error());
    }
    try {
        // CLI11 takes the words last first.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::Success& wanted) {
        return app.exit(wanted);  // --help and --version
    } catch (const CLI::ParseError& error) {
        const auto usage = usage_error(app, error);
        show_error(usage);
        return exit_code_of(usage);
    }
    if (auto done = action(); !done) {
        std::cout.flush();
        show_error(done.error());
        return exit_code_of(done.error());
    }
    std::cout.flush();
    return 0;
}

}  // namespace stapgen::cli
