#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/stap_version.h"
#include "host/system.h"

namespace stapgen::host {

/// Whose packages a remedy should name.
enum class Distribution { debian, redhat, other };

/// The table of symbol names from which stap resolves kprobe.function.
enum class SymbolTableState { usable, stub, missing };

struct SymbolTable {
    SymbolTableState state = SymbolTableState::missing;
    std::filesystem::path path;  ///< the one stap will open; empty when missing
};

enum class Privilege { root, group, none };

/// What was asked for on the command line.
struct TargetRequest {
    std::string stap = "stap";      ///< --stap or $STAPGEN_STAP: a name or a path
    std::string release{};          ///< -r: a release, or the absolute path of a build tree; empty: the running kernel
    std::string debuginfod_urls{};  ///< $DEBUGINFOD_URLS: stap asks these servers for debuginfo
};

/// What one machine can do for one kernel. Always filled as far as it goes; what is missing is told by
/// obstacles_to_compile() and obstacles_to_load().
struct Target {
    std::string release;
    bool running = false;         ///< the kernel we run on
    std::string release_option;   ///< for stap -r; empty where stap's default is meant
    std::filesystem::path build;  ///< kernel build tree
    bool build_has_config = false;
    bool build_has_makefile = false;
    std::filesystem::path source;  ///< where include/linux is; Debian splits it from `build`

    std::string stap_asked;         ///< as in the request
    std::filesystem::path stap;     ///< empty: not found
    std::filesystem::path staprun;  ///< empty: not found
    std::optional<StapVersion> stap_version;
    std::filesystem::path runtime;  ///< stap's runtime sources; empty: not found

    SymbolTable symbol_table;
    /// The kernel's DWARF, or the servers that are asked for it; empty: neither.
    std::string debuginfo;
    Privilege privilege = Privilege::none;
    Distribution distribution = Distribution::other;
    bool loads_modules = false;   ///< the running kernel has loadable modules
    bool has_kprobes = false;     ///< the running kernel has kprobes, as far as it can be seen
    bool modules_locked = false;  ///< lockdown, enforced signatures or kernel.modules_disabled
    std::string modules_locked_by;
};

Target inspect(const System& system, const TargetRequest& request);

/// Everything that keeps stap from making a module for the target, each with its remedy. Empty: go ahead.
std::vector<base::Error> obstacles_to_compile(const Target& target);
/// The same for probe points that take the kernel's DWARF.
std::vector<base::Error> obstacles_to_debuginfo(const Target& target);
/// The same for loading a module that exists.
std::vector<base::Error> obstacles_to_load(const Target& target);
/// The first obstacle as a result.
base::Result<void> none_of(const std::vector<base::Error>& obstacles);

}  // namespace stapgen::host
