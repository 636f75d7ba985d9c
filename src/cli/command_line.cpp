#include "cli/command_line.h"

#include <iostream>

#include "base/terminal.h"
#include "cli/commands/commands.h"
#include "cli/help/completion.h"
#include "cli/help/help.h"
#include "cli/help/manual.h"
#include "cli/help/version.h"
#include "cli/options/command_table.h"
#include "cli/options/parse.h"
#include "cli/standard_streams.h"
#include "host/facts.h"
#include "recipe/catalog.h"
#include "recipe/program_files.h"

namespace stapgen::cli {

namespace {

base::Result<void> print(const base::Result<std::string>& text) {
    if (!text) return tl::make_unexpected(text.error());
    std::cout << *text;
    return {};
}

base::Result<void> act(const recipe::Program& program, const CommandSpec& root, const CommandSpec& command,
                       const Options& options) {
    switch (command.verb) {
        case Verb::run:
            return run(program, *command.recipe, options);
        case Verb::render:
            return render(program, *command.recipe, options);
        case Verb::build:
            return build(program, *command.recipe, options);
        case Verb::list:
            return list(program, options);
        case Verb::show:
            return show(program, options);
        case Verb::doctor:
            return doctor(program, options);
        case Verb::exec:
            return exec(program, options);
        case Verb::report:
            return report(program, options);
        case Verb::compare:
            return compare(options);
        case Verb::resolve:
            return resolve(options);
        case Verb::new_recipe:
            return new_recipe(program, command_names(root), options);
        case Verb::help:
            return print(help_of(root, options.words));
        case Verb::man:
            return write_manual(root, program, options.into);
        case Verb::complete:
            return base::bad_input("complete: there is no --", "stapgen complete -- WORD... is for shells");
        case Verb::none:
            break;
    }
    return {};
}

base::Result<void> perform(const recipe::Program& program, const CommandSpec& root, const Invocation& invocation,
                           const Options& options) {
    switch (invocation.wanted) {
        case Invocation::Wanted::short_help:
            return print(short_help(*invocation.command));
        case Invocation::Wanted::whole_help:
            return print(whole_help(*invocation.command));
        case Invocation::Wanted::version:
            return print(version_text(program) + '\n');
        case Invocation::Wanted::action:
            break;
    }
    return act(program, root, *invocation.command, options);
}

/// `words`, without the program's name, to what they ask for, done.
base::Result<void> perform(const std::vector<std::string>& given) {
    // Of the shells: what stands behind `--` is another command line.
    const bool completing = given.size() > 1 && given[0] == "complete" && given[1] == "--";
    const std::vector<std::string> words(given.begin() + (completing ? 2 : 0), given.end());
    auto files = recipe::find_program_files(host::own_program());
    if (!files) return tl::make_unexpected(files.error());
    const auto beginning = beginning_of(words);
    auto folders = recipe::recipe_folders(beginning.recipe_path, *files);
    if (is_manual_of_installed({words.begin() + static_cast<std::ptrdiff_t>(beginning.verb), words.end()})) {
        folders = {{files->templates}};
    }
    recipe::Program program{*files, recipe::load_catalog(folders)};
    set_aside_clashes(program.catalog);
    Options options;
    const auto root = command_table(program.catalog, options);
    if (completing) {
        print(completion_of({program, root}, words));
        return {};
    }
    const auto invocation = parse(root, program.catalog, words);
    if (!invocation) return tl::make_unexpected(invocation.error());
    return perform(program, root, *invocation, options);
}

}  // namespace

int run_command_line(const std::vector<std::string>& words) {
    hold_standard_streams();
    auto done = perform(words);
    auto written = finish_output();
    if (done) done = std::move(written);
    if (done) return 0;
    base::show_error(done.error());
    return exit_code_of(done.error());
}

}  // namespace stapgen::cli
