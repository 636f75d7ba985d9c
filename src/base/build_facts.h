// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace stapgen::base {

/// Facts about the build; scripts/build-facts.cmake writes them.
struct BuildFacts {
    const char* version;
    const char* revision;  ///< of git, 12 digits and ", dirty" where files were changed; "unknown" without git and
                           ///< where no archive has it
    const char* compiler;
    const char* date;     ///< of the revision, else of the build; YYYY-MM-DD
    const char* recipes;  ///< recipe_hash() of the source
};
extern const BuildFacts build_facts;

}  // namespace stapgen::base
