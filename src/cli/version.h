#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/doing.h"

namespace stapgen::cli {

/// What the build says of itself; scripts/build-facts.cmake writes it.
struct BuildFacts {
    const char* version;
    const char* revision;  ///< of git, 12 digits and ", dirty" where files were changed; "unknown" without git
    const char* compiler;
    const char* date;     ///< of the revision, else of the build; YYYY-MM-DD
    const char* recipes;  ///< recipe_hash() of the source
};
extern const BuildFacts build_facts;

/// "stapgen 0.1.0".
std::string program_version();

std::string_view build_date();

/// SHA-256 over what decides what the scripts are: recipes, tapsets and cures. It is that of the text of sha256sum for
/// these files, by name, in `share`: find cures.toml tapsets templates -type f | LC_ALL=C sort | xargs sha256sum |
/// sha256sum.
base::Result<std::string> recipe_hash(const std::filesystem::path& share);

/// The lines of --version.
std::string version_text(const Program& program);

}  // namespace stapgen::cli
