// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit_codes.h"
#include "base/result.h"
#include "base/text.h"
#include "cli/options/spec.h"
#include "recipe/catalog.h"

namespace stapgen::cli {

/// The columns that help takes: 80, or those of a terminal that is narrower.
std::size_t help_width();

/// The text of --help: it begins with the examples and fits a screen of 24 lines of 80 columns.
std::string short_help(const CommandSpec& command, std::size_t width = base::default_width);

/// The text of --help-all: every option with all that is to be said of it.
std::string whole_help(const CommandSpec& command, std::size_t width = base::default_width);

/// The same, of the command that these words come to; or a topic. Error (bad_input): there is none.
base::Result<std::string> help_of(const CommandSpec& root, const std::vector<std::string>& words,
                                  std::size_t width = base::default_width);

/// The tables of a report: names, columns, units, and how they add up. `words`: the beginning of a name.
base::Result<std::string> results_text(const std::vector<std::string>& words);

/// A topic of `stapgen help NAME [WORD...]` that is no command: a table of the code or of recipes. Words choose from
/// it.
struct Topic {
    std::string_view name, summary;
    base::Result<std::string> (*text)(const CommandSpec& root, const std::vector<std::string>& words);
};
std::span<const Topic> help_topics();

/// "(compare, fleet compare) A regression."
std::string exit_code_text(const base::ExitCode& code);

/// Whether these words, the first the verb, ask for the manual of what is installed, whatever recipes who builds it
/// has.
bool is_manual_of_installed(const std::vector<std::string>& words);

/// Writes stapgen(1) and a page for each recipe and command into this folder. The build calls it, so that pages, help
/// and completion have one source; it knows a user's own recipes, too.
base::Result<void> write_manual(const CommandSpec& root, const recipe::Program& program,
                                const std::filesystem::path& folder);

/// "stapgen 0.3.0".
std::string program_version();

std::string_view build_date();

/// SHA-256 over what decides what the scripts are: recipes, tapsets and workarounds. It is that of the text of
/// sha256sum for these files, by name, in `share`: find workarounds.toml tapsets templates -type f | LC_ALL=C sort |
/// xargs sha256sum | sha256sum.
base::Result<std::string> recipe_hash(const std::filesystem::path& share);

/// The lines of --version.
std::string version_text(const recipe::Program& program);

struct Candidate {
    std::string text;
    std::string about{};  ///< one line; may be empty
};

/// A text that may be typed instead of a word.
struct Completion {
    enum class Paths { none, files, folders };
    std::vector<Candidate> candidates{};
    Paths paths = Paths::none;  ///< which the shell knows best
};

/// Where those are known from that are stapgen's own.
struct Known {
    const recipe::Program& program;
    const CommandSpec& root;
};

/// Completions of the last of `words`, which are those behind the program's name: whole words that begin
/// as it does.
Completion completion_of(const Known& known, const std::vector<std::string>& words);

/// `stapgen complete -- WORDS...`, which the shells' files of completions/ call: prints each candidate, a tab and what
/// it is; at the end `:files` or `:folders` where a path may stand.
void print(const Completion& completion);

}  // namespace stapgen::cli
