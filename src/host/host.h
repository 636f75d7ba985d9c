#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/packages.h"
#include "host/stap_version.h"
#include "host/system.h"

namespace stapgen::host {

/// The table of symbol names from which stap resolves kprobe.function.
enum class SymbolTableState { usable, stub, missing };

struct SymbolTable {
    SymbolTableState state = SymbolTableState::missing;
    std::filesystem::path path;  ///< the one stap will open; empty when missing
};

/// What was asked for on the command line.
struct TargetRequest {
    std::string stap = "stap";      ///< --stap or $STAPGEN_STAP: a name or a path
    std::string release{};          ///< -r: a release, or the absolute path of a build tree; empty: the running kernel
    std::string debuginfod_urls{};  ///< $DEBUGINFOD_URLS: stap asks these servers for debuginfo
};

/// What one machine has for one kernel. Always filled as far as it goes; whether that is enough, the doctor tells.
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
    Distribution distribution = Distribution::other;
};

Target inspect(const System& system, const TargetRequest& request);

}  // namespace stapgen::host
