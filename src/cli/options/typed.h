// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/options/spec.h"

namespace stapgen::cli {

/// A command line, taken apart word by word: --name VALUE, --name=VALUE, -x VALUE, -xVALUE, flags together as -qv, and
/// `--` before arguments that begin with a dash.
struct Typed {
    const CommandSpec* command;            ///< the last one that a word has named
    const OptionSpec* value_of = nullptr;  ///< the option whose value comes next
    bool options_ended = false;
    std::map<const OptionSpec*, std::vector<std::string>> given{};  ///< values, of a flag what it stands for
    std::vector<std::string> unknown{};                             ///< no option and no argument of its command

    void take(const std::string& word);
    /// The argument that the next word is; null if there is none left.
    [[nodiscard]] const OptionSpec* next_argument() const;

  private:
    void take_option(const std::string& word);
};

}  // namespace stapgen::cli
