#pragma once

#include <string>
#include <vector>

#include "cli/options/spec.h"

namespace stapgen::cli {

struct Candidate {
    std::string text;
    std::string about{};  ///< one line; may be empty
};

/// What may be typed in place of a word.
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

/// What may stand in place of the last of `words`, which are those behind the program's name: whole words that begin
/// as it does.
Completion completion_of(const Known& known, const std::vector<std::string>& words);

/// `stapgen complete -- WORDS...`, which the shells' files of completions/ call: prints each candidate, a tab and what
/// it is; at the end `:files` or `:folders` where a path may stand.
void print(const Completion& completion);

}  // namespace stapgen::cli
