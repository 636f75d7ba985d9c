#include "cli/help/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "cli/help/recipe_facts.h"
#include "cli/help/roff.h"
#include "cli/help/spec_text.h"
#include "cli/help/version.h"

namespace stapgen::cli {

namespace {

/// The exit codes of standard_streams.h.
void write_exit_status(Roff& page) {
    page.section("EXIT STATUS");
    page.item("0", "Done. A measurement that was ended by Ctrl-C is done, too.");
    page.item("1", "It failed while running.");
    page.item("2", "Wrong usage or bad input.");
    page.item("3", "'stapgen compare' found a regression.");
    page.item("4", "This machine cannot do it; the message says what is missing.");
}

void write_files(Roff& page) {
    page.section("FILES");
    page.item("PREFIX/share/stapgen",
              "Recipes, tapsets, workarounds and what is known of kernels, beside PREFIX/bin/stapgen.");
    page.item("~/.config/stapgen/recipes", "Recipes of the user, one folder each.");
    page.item(recipe::system_recipe_folder,
              "Recipes of the machine, for all its users, and for root before the user's.");
    page.item(
        "~/.cache/stapgen",
        "What can be made again: compiled modules, and last-failure.log, all that stap said when it failed last.");
}

void write_environment(Roff& page) {
    page.section("ENVIRONMENT");
    page.item("STAPGEN_RECIPE_PATH", "Folders with recipes, with : between them; they go before the user's own.");
    page.item("STAPGEN_STAP", "Which stap, as --stap.");
    page.item("XDG_CACHE_HOME", "Where the cache is, in place of ~/.cache.");
    page.item("XDG_CONFIG_HOME", "Where recipes of the user are, in place of ~/.config.");
    page.item("DEBUGINFOD_URLS", "Where debug information may be fetched from.");
}

void write_options(Roff& page, const std::vector<OptionGroup>& groups) {
    page.section("OPTIONS");
    for (const auto& [title, options] : groups) {
        if (options.empty()) continue;
        page.subsection(title);
        for (const auto* option : options)
            page.item(shown_name(*option), whole_text(*option));
    }
    const auto used = values_used(groups);
    if (used.empty()) return;
    page.subsection("Values");
    for (const auto* value : used)
        page.item(std::string(value->word), std::string(value->meaning));
}

/// What `show` tells.
base::Result<void> write_recipe(Roff& page, const recipe::Program& program, const recipe::Recipe& recipe) {
    page.paragraph(recipe.description);
    if (!recipe.stages.empty()) page.subsection("Stages and values");
    for (const auto& [name, help] : recipe.stages)
        page.item(name, help);
    if (!recipe.counters.empty()) page.subsection("Losses that only the kernel counts");
    for (const auto& [name, help] : recipe.counters)
        page.item(name, help);
    if (!recipe.probes.empty()) {
        page.subsection("Cost");
        page.paragraph(recipe.probes);
    }
    const auto kernels = kernels_of(program, recipe);
    if (!kernels) return tl::make_unexpected(kernels.error());
    if (!recipe.kernels.empty() || !kernels->empty()) page.subsection("Kernels");
    page.paragraph(recipe.kernels);
    for (const auto& [range, state] : kernel_rows(*kernels))
        page.item(range, state);
    return {};
}

void write_subcommands(Roff& page, const CommandSpec& command) {
    for (const bool recipes : {true, false}) {
        std::vector<const CommandSpec*> listed;
        for (const auto* one : shown_commands(command)) {
            if ((one->recipe != nullptr) == recipes) listed.push_back(one);
        }
        if (listed.empty()) continue;
        page.section(recipes ? "RECIPES" : "COMMANDS");
        for (const auto* one : listed)
            page.item(one->name, one->summary);
    }
}

void write_see_also(Roff& page, const CommandSpec& root, const CommandSpec& command) {
    std::vector<std::string> pages;
    if (&command != &root) pages.push_back(manual_name(root));
    for (const auto* one : shown_commands(root)) {
        // A recipe's page names the commands, as does that of a command.
        const bool near = &command == &root || one->recipe == nullptr;
        if (near && one != &command) pages.push_back(manual_name(*one));
    }
    page.section("SEE ALSO");
    page.references(pages, {{"stap", "1"}, {"staprun", "8"}});
}

base::Result<std::string> page_of(const CommandSpec& root, const CommandSpec& command, const recipe::Program& program) {
    Roff page(manual_name(command), build_date(), program_version());
    page.section("NAME");
    page.title(manual_name(command), command.summary);
    page.section("SYNOPSIS");
    page.command(usage_of(command));
    if (!command.examples.empty()) {
        page.section("EXAMPLES");
        page.lines(command.examples);
    }
    page.section("DESCRIPTION");
    if (command.recipe != nullptr) {
        if (auto written = write_recipe(page, program, *command.recipe); !written) {
            return tl::make_unexpected(written.error());
        }
    } else {
        page.paragraph(command.summary);
        page.lines_of(command.notes);
    }
    write_subcommands(page, command);
    write_options(page, all_option_groups(command));
    write_exit_status(page);
    write_environment(page);
    write_files(page);
    write_see_also(page, root, command);
    return page.text();
}

}  // namespace

bool is_manual_of_installed(const std::vector<std::string>& words) {
    return words.size() > 1 && words[0] == "man" && words[1] == "--installed";
}

base::Result<void> write_manual(const CommandSpec& root, const recipe::Program& program,
                                const std::filesystem::path& folder) {
    auto commands = shown_commands(root);
    commands.push_back(&root);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    for (const auto* command : commands) {
        const auto page = page_of(root, *command, program);
        if (!page) return tl::make_unexpected(page.error());
        const auto path = folder / (manual_name(*command) + ".1");
        std::ofstream file(path, std::ios::binary);
        file << *page;
        file.close();
        if (!file)
            return base::failed(fmt::format("cannot write {}", path.string()), "name a folder that can be written");
    }
    return {};
}

}  // namespace stapgen::cli
