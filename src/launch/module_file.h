// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace stapgen::launch {

/// The key in a module's .modinfo of what it was made of.
inline constexpr std::string_view recipe_key = "stapgen_recipe";

/// Text of a module's, NUL-terminated strings, to probe points: "kprobe.function(\"ip_rcv_core\")". Not in them:
/// whether there were alternatives (! and ?), conditions, and where in a source file a function is.
std::set<std::string> probe_points_in(std::string_view strings);

/// Facts of a .ko about itself, checked: anybody may have made it. As the kernel, it takes the first of several.
struct ModuleInfo {
    std::string name;                    ///< as the kernel will call it: base::is_module_name()
    std::string release;                 ///< the kernel it was built for: base::is_uts_name(), or empty
    std::string architecture;            ///< as `uname -m` there
    bool systemtap = false;              ///< made by stap
    bool is_signed = false;              ///< there is a signature at its end, of whomever
    std::set<std::string> parameters;    ///< of these it takes values; the kernel ignores any other in silence
    std::string recipe_hash;             ///< that `stapgen build` put there, hexadecimal: recipe::hash_of(); else empty
    std::string header;                  ///< its script's, for schema::parse_header(); empty: none of ours
    std::vector<std::string> functions;  ///< probe points in functions and tracepoints of the kernel it is for, sorted
};

/// Whether what a user typed where a recipe may stand is a module's file: recipes have neither a dot nor a slash.
bool names_file(std::string_view typed);

/// Errors (bad_input): it cannot be opened, is no module, or what it says of itself is not valid.
base::Result<ModuleInfo> read_module_info(const std::filesystem::path& file);

/// A module under the name staprun needs: staprun takes the module's name from the file's, so a file that was
/// renamed is copied to a private folder. Owns the copy.
struct LoadableModule {
    std::filesystem::path path;
    ModuleInfo info;
    std::optional<base::PrivateDirectory> copy;
};
base::Result<LoadableModule> make_loadable(const std::filesystem::path& file);

/// Gives the module in this content of a file another name of the same length, as `staprun -R` does when it loads it.
void rename_module(std::string& content, std::string_view name, std::string_view new_name);

/// The name with its end replaced by the tail, which has the length of the name at most: as it is if it is too short.
std::string with_tail(std::string_view name, std::string_view tail);
/// The name under which `staprun -R` of process `pid` loads the module `name`.
std::string loaded_name(std::string_view name, pid_t pid);

}  // namespace stapgen::launch
