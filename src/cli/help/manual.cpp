// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/algorithm/string/replace.hpp>
#include <fstream>
#include <map>

#include "base/exit_codes.h"
#include "base/text.h"
#include "cli/help/help.h"
#include "cli/help/spec_text.h"
#include "recipe/kernels.h"

namespace stapgen::cli {

namespace {

/// Width of lines as they are: man indents them by 7, and a terminal may have 80 columns.
constexpr std::size_t notes_width = 72;

/// Hyphens are typed by those who copy an option, so they stay what they are; a dot or an apostrophe that begins a line
/// would begin a request.
std::string escaped(std::string_view text) {
    static const std::map<char, std::string_view> escapes{{'\\', "\\e"},  {'-', "\\-"},   {'~', "\\(ti"},
                                                          {'^', "\\(ha"}, {'`', "\\(ga"}, {'\'', "\\(aq"}};
    std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
    for (const char c : text) {
        const auto escape = escapes.find(c);
        out += escape == escapes.end() ? std::string_view(&c, 1) : escape->second;
    }
    return out;
}

/// An argument of a macro.
std::string argument(std::string_view text) {
    return '"' + boost::replace_all_copy(escaped(text), "\"", "\\(dq") + '"';
}

/// Writes a page of the manual with the macros of man(7). Texts are plain: what means something to roff is escaped
/// here.
class Roff {
  public:
    void section(std::string_view title) { heading(".SH", title); }
    void subsection(std::string_view title) { heading(".SS", title); }

    /// Nothing is written of an empty one.
    void paragraph(std::string_view text) {
        if (base::trim(text).empty()) return;
        begin_paragraph();
        for (const auto line : base::split(base::trim(text), '\n'))
            text_ += base::trim(line).empty() ? ".PP\n" : escaped(base::trim(line)) + '\n';
    }

    /// A term and, indented below it, what it is.
    void item(std::string_view term, std::string_view text) {
        behind_heading_ = false;
        text_ += fmt::format(".TP\n.B {}\n", argument(term));
        for (const auto line : base::split(base::trim(text), '\n'))
            text_ += escaped(base::trim(line)) + '\n';
    }
    void items(const std::vector<std::pair<std::string, std::string>>& rows) {
        for (const auto& [term, text] : rows)
            item(term, text);
    }

    /// As they are, in a fixed width.
    template <class Lines>
    void lines(const Lines& lines) {
        begin_paragraph();
        text_ += ".nf\n";
        for (const auto& line : lines)
            text_ += escaped(line) + '\n';
        text_ += ".fi\n";
    }

    /// With macros of its own.
    void raw(std::string_view text) { text_ += text; }

    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    void heading(std::string_view macro, std::string_view title) {
        text_ += fmt::format("{} {}\n", macro, argument(title));
        behind_heading_ = true;
    }
    void begin_paragraph() {
        if (!behind_heading_) text_ += ".PP\n";
        behind_heading_ = false;
    }

    std::string text_;
    bool behind_heading_ = false;  ///< which is a paragraph's end itself
};

void write_exit_status(Roff& page) {
    page.section("EXIT STATUS");
    for (const auto& code : base::exit_codes)
        page.item(fmt::to_string(code.number), exit_code_text(code));
}

void write_files(Roff& page) {
    page.section("FILES");
    page.item("PREFIX/share/stapgen",
              "Recipes, tapsets, workarounds and the table of kernels, beside PREFIX/bin/stapgen.");
    page.item("~/.config/stapgen/recipes", "Recipes of the user, one folder each.");
    page.item(recipe::system_recipe_folder,
              "Recipes of the machine, for all users; root reads them before the user's.");
    page.item("~/.cache/stapgen",
              "Compiled modules and last-failure.log, stap's output of the last failed run. May be deleted.");
}

void write_environment(Roff& page) {
    page.section("ENVIRONMENT");
    page.item("STAPGEN_RECIPE_PATH", "Folders with recipes, separated by :, searched before the user's own.");
    page.item("STAPGEN_STAP", "The stap to use, as --stap.");
    page.item("STAPGEN_DUCKDB",
              "DuckDB's library, for export and query, instead of libduckdb.so in share/stapgen or the system.");
    page.item("XDG_CACHE_HOME", "The folder of the cache, instead of ~/.cache.");
    page.item("XDG_CONFIG_HOME", "The folder of the user's recipes and settings, instead of ~/.config.");
    page.item("STAPGEN_CONFIG",
              "A file of settings, instead of ~/.config/stapgen/config.toml and "
              "/etc/stapgen/config.toml; empty: no settings.");
    page.item("NO_COLOR", "If set and not empty: no colours, unless --color always is given.");
    page.item("DEBUGINFOD_URLS", "Servers to fetch debug information from, with --fetch.");
}

/// The output of `show`.
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
    STAPGEN_LET(const auto kernels, recipe::kernels_of(recipe, program.files));
    if (!recipe.kernels.empty() || !kernels.empty()) page.subsection("Kernels");
    page.paragraph(recipe.kernels);
    for (const auto& kernel : kernels)
        page.item(kernel.range, kernel.state_text());
    return {};
}

void write_see_also(Roff& page, const CommandSpec& root, const CommandSpec& command) {
    std::vector<std::string> pages;
    const auto add = [&](std::string_view name, int section) {
        pages.push_back(fmt::format(".BR {} ({})", escaped(name), section));
    };
    if (&command != &root) add(manual_name(root), 1);
    for (const auto* one : shown_commands(root)) {
        // A recipe's page names the commands, as does that of a command.
        const bool near = &command == &root || one->recipe == nullptr;
        if (near && one != &command) add(manual_name(*one), 1);
    }
    page.section("SEE ALSO");
    add("stap", 1);
    add("staprun", 8);
    page.raw(fmt::format("{}\n", fmt::join(pages, ",\n")));
}

base::Result<std::string> page_of(const CommandSpec& root, const CommandSpec& command, const recipe::Program& program) {
    Roff page;
    const auto name = manual_name(command);
    page.raw(fmt::format(".TH {} 1 {} {} \"User Commands\"\n", argument(base::upper(name)), build_date(),
                         argument(program_version())));
    page.section("NAME");
    // The line that whatis(1) reads.
    page.raw(fmt::format("{} \\- {}\n", escaped(name), escaped(command.summary)));
    page.section("SYNOPSIS");
    page.raw(fmt::format(".B {}\n", argument(usage_of(command))));
    page.section("DESCRIPTION");
    if (command.recipe != nullptr) {
        STAPGEN_TRY(write_recipe(page, program, *command.recipe));
    } else {
        page.paragraph(command.summary);
        if (!command.notes.empty())
            page.lines(base::split(base::trim(base::reflowed(command.notes, notes_width)), '\n'));
    }
    for (const auto& [title, rows] : command_sections(command)) {
        page.section(base::upper(title));
        page.items(rows);
    }
    page.section("OPTIONS");
    for (const auto& [title, rows] : whole_sections(all_option_groups(command))) {
        page.subsection(title);
        page.items(rows);
    }
    write_exit_status(page);
    write_environment(page);
    write_files(page);
    if (!command.examples.empty()) {
        page.section("EXAMPLES");
        page.lines(command.examples);
    }
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
        STAPGEN_LET(const auto page, page_of(root, *command, program));
        const auto path = folder / (manual_name(*command) + ".1");
        std::ofstream file(path, std::ios::binary);
        file << page;
        file.close();
        if (!file) return base::failed(fmt::format("cannot write {}", path.string()), "name a writable folder");
    }
    return {};
}

}  // namespace stapgen::cli
