// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host.h"

namespace stapgen::host {

/// Files that a workaround keeps in the cache are made now, or only named, where they would be.
enum class Making { now, planned };

/// For one child only, in a mount namespace of its own: `source` is seen at `target`.
struct BindMount {
    std::filesystem::path source;
    std::filesystem::path target;
    bool optional = false;  ///< where it cannot be made, the child does without it and the optional ones behind it
};

/// Changes of a workaround to stap's process.
struct ProcessWorkaround {
    std::vector<BindMount> mounts;  ///< in this order
    std::string flags;              ///< for KCPPFLAGS, so that what is hidden from stap is found by the compiler
    std::string line;               ///< for the user: what is done and why
};

/// A sign that a workaround is needed: the file exists, contains the one text and lacks the other (if given).
struct Evidence {
    std::string file;  ///< begins with {runtime}, {build} or {source}
    std::string contains;
    std::string lacks;
};

/// A change of one file of stap's runtime; `replace` must be found.
struct RuntimePatch {
    std::string file;
    std::string replace;
    std::string with;
};

/// One row of workarounds.toml: an incompatibility of a SystemTap with a kernel or a fault of its own, and what heals
/// it.
struct Workaround {
    std::string id;
    std::string why;
    std::optional<StapVersion> stap_before;
    std::vector<Evidence> when;                 ///< all of them
    std::map<std::string, std::string> kbuild;  ///< for stap -B: CFLAGS_MODULE -> flags
    std::vector<RuntimePatch> patches;
    std::string instead;               ///< where there is none, and nothing will compile: what to do
    std::string mended_in;             ///< of a fault of SystemTap's own: the first release without it
    std::vector<std::string> only_in;  ///< of one without a remedy: words of the scripts that meet it; none: all do

    /// It heals something, by variables or patches.
    [[nodiscard]] bool heals() const { return !kbuild.empty() || !patches.empty(); }
    /// A fault that nothing can be done about here, and nothing left out.
    [[nodiscard]] bool is_fault() const { return !mended_in.empty() && !heals(); }
};

/// A workaround that is no row of workarounds.toml, and what is so without it.
struct OwnWorkaround {
    std::string_view id;
    std::string_view without;
};
inline constexpr std::array own_workarounds{
    OwnWorkaround{"kept-module", "stap makes the module, even if an earlier run made the same"},
    OwnWorkaround{"symbol-table", "no table of symbols is made for stap"},
    OwnWorkaround{"trace-headers", "stap compiles all headers of tracepoints, and not only those that are needed"},
};

/// Workarounds that the user switched off.
struct WorkaroundChoice {
    bool none = false;
    std::set<std::string, std::less<>> without{};

    /// Takes workarounds of either kind.
    [[nodiscard]] bool leaves_out(std::string_view id) const { return none || without.contains(id); }
};

/// The effects of all workarounds, ready for the command line of stap.
struct AppliedWorkarounds {
    std::map<std::string, std::string> kbuild{};  ///< for -B
    std::filesystem::path runtime{};              ///< for -R; empty: stap's own
    std::vector<std::string> ids{};
    std::vector<std::string> lines{};  ///< "workaround: <id>: <why>", for the user
};

/// `name` is for error messages only.
base::Result<std::vector<Workaround>> parse_workarounds(std::string_view toml, std::string_view name);
base::Result<std::vector<Workaround>> load_workarounds(const std::filesystem::path& file);

/// Those whose evidence is there, switched off or not.
std::vector<Workaround> needed_workarounds(const std::vector<Workaround>& workarounds, const System& system,
                                           const Target& target);

/// Applies the needed ones which `choice` leaves on. Patches go into a private copy of the runtime under
/// `cache`, made once; the installed one is never touched.
base::Result<AppliedWorkarounds> apply_workarounds(const std::vector<Workaround>& needed,
                                                   const WorkaroundChoice& choice, const Target& target,
                                                   const std::filesystem::path& cache, Making making = Making::now);

/// A warning for each fault among these that each script meets, or this one, without its comments.
std::vector<std::string> faults_met(const std::vector<Workaround>& needed, std::string_view script);

/// From the text of /proc/kallsyms or a System.map: the kernel's own text symbols, no module's, in the form
/// stap reads. Addresses may be all zero (kptr_restrict): stap needs only the names. Empty if there are none.
std::string system_map_from(std::string_view kallsyms);

/// True if stap would find a function in it: a stub as Debian ships it has none.
bool names_functions(std::string_view system_map);

/// Where the symbol table is a stub or missing: one made from `symbols` (kallsyms text or System.map, maybe
/// compressed) or from /proc/kallsyms if the target is the running kernel, kept under `cache`, and the mount
/// that lets stap see it. Nothing if stap has a usable table and `symbols` is empty, or if there is nothing to make one
/// from and `symbols` is empty (then debuginfo may still do).
base::Result<std::optional<ProcessWorkaround>> provide_symbol_table(const System& system, const Target& target,
                                                                    const std::optional<std::filesystem::path>& symbols,
                                                                    const std::filesystem::path& cache,
                                                                    Making making = Making::now);

/// stap compiles each header of tracepoints that it finds in the kernel's tree, to know what is in it, before it sets
/// the first kernel.trace. Here it is shown those alone that define the given tracepoints. Nothing where one of these
/// is in no such header (then it may be made by a macro), where the kernel's tree has none, where this process may not
/// mount, and where the cache's path is not fit for a compiler's flag. All its mounts are optional.
///
/// The flags are the same whatever is shown, for stap keeps its answers by them; so answers are shared by all recipes,
/// and none by a stap without this workaround.
base::Result<std::optional<ProcessWorkaround>> provide_trace_headers(const System& system, const Target& target,
                                                                     const std::set<std::string>& tracepoints,
                                                                     const std::filesystem::path& cache,
                                                                     Making making = Making::now);

/// Whether the text of a header may define the tracepoint: its name is the first or a middle argument of something.
bool may_define(std::string_view header, std::string_view tracepoint);

}  // namespace stapgen::host
