#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/terminal.h"
#include "base/text.h"
#include "cli/commands/commands.h"
#include "cli/help/command_tree.h"
#include "cli/help/completion.h"
#include "cli/help/help.h"
#include "cli/help/manual.h"
#include "cli/help/usage_error.h"
#include "cli/help/version.h"
#include "cli/options/action.h"
#include "cli/options/option_groups.h"
#include "host/facts.h"

namespace stapgen::cli {

namespace {

/// What stands before the verb. The recipes make the subcommands, so where they are must be known before the command
/// line is parsed.
struct Beginning {
    std::string recipe_path;
    std::size_t verb = 0;  ///< its place; the number of arguments if there is none
};

Beginning beginning_of(const std::vector<std::string>& arguments) {
    constexpr std::string_view option = "--recipe-path";
    Beginning beginning;
    auto& at = beginning.verb;
    while (at < arguments.size() && arguments[at].starts_with(option)) {
        const auto rest = arguments[at].substr(option.size());
        if (rest.starts_with("=")) {
            beginning.recipe_path = rest.substr(1);
        } else if (rest.empty() && at + 1 < arguments.size()) {
            beginning.recipe_path = arguments[++at];
        } else {
            break;
        }
        ++at;
    }
    return beginning;
}

constexpr std::string_view complete_command = "complete";

std::vector<std::string> commands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

void add_own_commands(CLI::App& app, const recipe::Program& program, Action& action) {
    add_list_command(app, program, action);
    add_show_command(app, program, action);
    add_doctor_command(app, program, action);
    add_render_command(app, program, action);
    add_build_command(app, program, action);
    add_exec_command(app, program, action);
    add_report_command(app, program, action);
    add_compare_command(app, action);
    add_resolve_command(app, action);
    add_new_recipe_command(app, program, action);
    add_help_command(app, action);
    add_man_command(app, program, action);
    // For the shells: what stands behind `--` is another command line, so run_command_line() sees to it before anything
    // is parsed.
    app.add_subcommand(std::string(complete_command), "Print what may come next")
        ->group(groups::hidden)
        ->callback([&action] {
            action = []() -> base::Result<void> {
                return base::bad_input("complete: there is no --", "stapgen complete -- WORD... is for shells");
            };
        });
}

/// Whether the options of its own fit beside ours, with the recipe run, built and rendered.
bool fits(const recipe::Program& program, const recipe::Recipe& recipe) {
    Action none;
    const recipe::Program alone{program.files, {{recipe}, {}}};
    try {
        CLI::App trial;
        set_help(trial);
        add_run_command(trial, alone, recipe, none);
        add_own_commands(trial, alone, none);
    } catch (const CLI::Error&) {
        return false;
    }
    return true;
}

/// Which of its parameters is in the way.
std::string clash_of(const recipe::Program& program, const recipe::Recipe& recipe) {
    for (const auto& parameter : recipe.parameters) {
        auto one = recipe;
        one.parameters = {parameter};
        if (fits(program, one)) continue;
        return fmt::format("its parameter '{0}' would be the option --{0}, which stapgen has itself or cannot have",
                           parameter.name);
    }
    return "two of its parameters have the same name";
}

/// A recipe whose name or parameters are taken by stapgen itself would take the whole command line down with it.
void set_aside_clashes(recipe::Program& program) {
    CLI::App own;
    set_help(own);
    Action none;
    add_own_commands(own, recipe::Program{program.files, {}}, none);
    const auto taken = commands_of(own);
    std::vector<recipe::Recipe> usable;
    for (auto& recipe : program.catalog.recipes) {
        std::string clash;
        if (std::find(taken.begin(), taken.end(), recipe.name) != taken.end()) {
            clash = fmt::format("'{}' is a command of stapgen", recipe.name);
        } else if (!fits(program, recipe)) {
            clash = clash_of(program, recipe);
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
                              const std::vector<std::string>& arguments, std::size_t first) {
    if (first >= arguments.size() || arguments[first].starts_with("-")) return {};
    const auto& verb = arguments[first];
    const auto names = commands_of(app);
    if (std::find(names.begin(), names.end(), verb) != names.end()) {
        const bool takes_recipe = verb == "render" || verb == "build";
        if (!takes_recipe || first + 1 >= arguments.size() || arguments[first + 1].starts_with("-")) return {};
        const auto recipe = recipe::find_recipe(catalog, arguments[first + 1]);
        if (!recipe) return tl::make_unexpected(recipe.error());
        if (recipe->source == recipe::Source::script) return {};
        return base::bad_input(
            fmt::format("{0} {1}: {1} has no script; stapgen reads the kernel's counters itself", verb, recipe->name),
            fmt::format("run it: stapgen {0}; 'stapgen {0} --dry-run' tells what it reads", recipe->name));
    }
    if (const auto broken = catalog.broken.find(verb); broken != catalog.broken.end()) {
        return tl::make_unexpected(broken->second);
    }
    const auto meant = base::did_you_mean(verb, names);
    return base::bad_input(fmt::format("there is no recipe or command '{}'", base::printable(verb)),
                           meant ? fmt::format("did you mean '{}'? 'stapgen list' shows the recipes", *meant)
                                 : "'stapgen list' shows the recipes, 'stapgen --help' the commands");
}

int exit_code_after(base::Result<void> done) {
    auto written = finish_output();
    if (done) done = std::move(written);
    if (done) return 0;
    base::show_error(done.error());
    return exit_code_of(done.error());
}

}  // namespace

int run_command_line(const std::vector<std::string>& given) {
    hold_standard_streams();
    const bool completing = given.size() > 1 && given[0] == complete_command && given[1] == "--";
    const std::vector<std::string> arguments(given.begin() + (completing ? 2 : 0), given.end());
    auto files = recipe::find_program_files(host::own_program());
    if (!files) return exit_code_after(tl::make_unexpected(files.error()));
    const auto beginning = beginning_of(arguments);
    auto folders = recipe::recipe_folders(beginning.recipe_path, *files);
    if (is_manual_of_installed({arguments.begin() + static_cast<std::ptrdiff_t>(beginning.verb), arguments.end()})) {
        folders = {{files->templates}};
    }
    recipe::Program program{*files, recipe::load_catalog(folders)};
    set_aside_clashes(program);

    CLI::App app{"Where does the time go, and where do packets die, in the kernel's network stack?"};
    app.name("stapgen");
    set_help(app);
    app.set_version_flag(
           "--version", [&program] { return version_text(program); },
           "The version, the build, and whether the recipes are those it was built with")
        ->group(groups::general);
    std::string recipe_path;
    app.add_option("--recipe-path", recipe_path, "Folders with recipes of your own, with : between them")
        ->type_name("DIR[:DIR...]")
        ->group(groups::general);
    app.require_subcommand(1);

    Action action;
    for (const auto& recipe : program.catalog.recipes)
        add_run_command(app, program, recipe, action);
    add_own_commands(app, program, action);

    // Not before: a command without a footer would take this one.
    app.footer(
        "stapgen RECIPE makes the SystemTap script for a measurement, compiles and loads\n"
        "it, and reports what it saw; Ctrl-C ends it. What -o keeps, and what other tools\n"
        "print, 'stapgen report' reads anywhere. --recipe-path and --version stand before\n"
        "the recipe or the command.\n"
        "Examples:\n"
        "  stapgen rx-latency --target-tid 31337\n"
        "  stapgen dropwatch --interval 5\n"
        "  stapgen resolve --map System.map 0xffffffff8149a8ed");
    if (completing) {
        print(completion_of({program, app}, arguments));
        return exit_code_after({});
    }
    if (auto known = check_verb(app, program.catalog, arguments, beginning.verb); !known) {
        return exit_code_after(std::move(known));
    }
    try {
        // CLI11 takes the words last first.
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    } catch (const CLI::Success& wanted) {
        (void)app.exit(wanted);  // --help and --version
        return exit_code_after({});
    } catch (const CLI::ParseError& error) {
        return exit_code_after(tl::make_unexpected(usage_error(app, error, arguments)));
    }
    return exit_code_after(action());
}

}  // namespace stapgen::cli
