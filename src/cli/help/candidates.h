#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options/spec.h"
#include "recipe/program_files.h"

/// Which values there are now for a word that stands for one (TID, DEV, FILE).
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

/// For a value's word as an option has it, "TIME" or "SIZE[,N]"; nothing if any value is possible.
Completion candidates_of(std::string_view value, const Known& known);

}  // namespace stapgen::cli
