// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::render {

struct TapsetFile {
    std::string name;  ///< "stapgen_receive.stp"; macros are in *.stpm, C in "c/NAME.h"
    std::string text;
};

/// The script with those parts of the tapset behind it that it needs, directly or through each other, so that it runs
/// with nothing but stap. Found by their names: whatever stapgen's tapsets define begins with "stapgen". `macros`:
/// those of macros_of() for the C, which stap's command line need not have then.
std::string with_tapsets(std::string_view script, const std::vector<TapsetFile>& tapsets,
                         const std::vector<std::string>& macros = {});

/// The script and those aliases, functions, macros and probes of the tapsets that it uses, directly or through each
/// other, without their comments.
std::vector<std::string> used_parts(std::string_view script, const std::vector<TapsetFile>& tapsets);

/// The C that the script needs, text after text: empty if it needs none.
std::string used_c(std::string_view script, const std::vector<TapsetFile>& tapsets);

/// The aliases that a script probes or defines, or a tapset's text names: words that begin with "stapgen.".
std::set<std::string> alias_names(std::string_view script);

/// Whether a kprobe.function is among what the script probes, by itself or through the tapsets' aliases and macros.
/// Without `substitutes` not those that are asked only where the kernel lacks a tracepoint (kernel.trace("a") !, ...).
bool probes_functions(std::string_view script, const std::vector<TapsetFile>& tapsets, bool substitutes);

}  // namespace stapgen::render
