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
#include "host/mount.h"

namespace stapgen::host {

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

/// One row of workarounds.toml: an incompatibility of a SystemTap with a kernel, and what heals it.
struct Workaround {
    std::string id;
    std::string why;
    std::optional<StapVersion> stap_before;
    std::vector<Evidence> when;                 ///< all of them
    std::map<std::string, std::string> kbuild;  ///< for stap -B: CFLAGS_MODULE -> flags
    std::vector<RuntimePatch> patches;
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

/// What the user switched off.
struct WorkaroundChoice {
    bool none = false;
    std::set<std::string, std::less<>> without{};

    /// Of workarounds of either kind.
    [[nodiscard]] bool leaves_out(std::string_view id) const { return none || without.contains(id); }
};

/// What the workarounds come to, ready for the command line of stap.
struct AppliedWorkarounds {
    std::map<std::string, std::string> kbuild{};  ///< for -B
    std::filesystem::path runtime{};              ///< for -R; empty: stap's own
    std::vector<std::string> lines{};             ///< "workaround: <id>: <why>", for the user
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

}  // namespace stapgen::host
