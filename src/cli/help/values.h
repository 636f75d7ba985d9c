#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help/command_tree.h"
#include "cli/options/action.h"

/// What the words mean that stand for values (TID, TIME, FILE), and which values there are now.
namespace stapgen::cli {

struct Candidate {
    std::string text;
    std::string about{};  ///< one line; may be empty
};

/// What may be typed in place of a word.
struct Offer {
    enum class Paths { none, files, folders };
    std::vector<Candidate> candidates{};
    Paths paths = Paths::none;  ///< which the shell knows best
};

/// Where those are known from that are stapgen's own.
struct Known {
    const recipe::Program& program;
    const CLI::App& app;  ///< the whole
};

struct ValueWord {
    std::string_view word;
    std::string_view meaning;  ///< with its units; empty where the option says it all
    Offer (*offer)(const Known& known);
};

/// For a value's word as an option has it, "TIME" or "SIZE[,N]" or "FILE..."; null if nothing is to be said of it.
const ValueWord* meaning_of(std::string_view value_word);

/// Those with a meaning that stand for the values of these options, each once, as they come up.
std::vector<const ValueWord*> values_used(const std::vector<OptionGroup>& groups);

}  // namespace stapgen::cli
