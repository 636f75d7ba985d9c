// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options/config.h"
#include "cli/options/spec.h"
#include "recipe/catalog.h"

namespace stapgen::cli {

/// Options before the verb. The recipes make commands, so where they are must be known before the command line is
/// parsed.
struct Beginning {
    std::string recipe_path;
    std::size_t verb = 0;  ///< its place; the number of words if there is none
};
Beginning beginning_of(const std::vector<std::string>& words);

/// A command line that is one text, in the words that a shell makes of it: quotes of both kinds, and \ before a
/// character. Error (bad_input): a quote that is not closed.
base::Result<std::vector<std::string>> shell_words(std::string_view typed);

/// A command line, understood: the values are where its command has them: values_of().
struct Invocation {
    enum class Wanted { action, short_help, whole_help, version };
    Wanted wanted = Wanted::action;
    const CommandSpec* command = nullptr;
};

/// `words` are those behind the program's name, `root` is command_table() of `catalog`. What was not typed comes from
/// `config`, unless it does not go with what was. Starts nothing and reads no file. Error (bad_input): a word, a value
/// or what does not go together; a recipe that cannot be used or has no script to render; those of apply_config().
base::Result<Invocation> parse(const CommandSpec& root, const recipe::Catalog& catalog,
                               const std::vector<std::string>& words, const std::vector<ConfigFile>& config = {});

}  // namespace stapgen::cli
