// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "host/packages.h"
#include "host/system.h"

namespace stapgen::host {

/// Which SystemTap this is. Ordered by number; the vendor's text takes no part in comparisons.
struct StapVersion {
    int major = 0;
    int minor = 0;
    std::string text{};       ///< what stands in the parentheses: "4.8/0.188, Debian version 4.8-2"
    bool debian = false;      ///< Debian's stap reads other symbol tables than upstream's
    std::string tested_to{};  ///< the newest kernel that its makers tried it with: "6.9-rc0"; empty: not given

    friend std::strong_ordering operator<=>(const StapVersion& a, const StapVersion& b) {
        if (const auto order = a.major <=> b.major; order != 0) return order;
        return a.minor <=> b.minor;
    }
    friend bool operator==(const StapVersion& a, const StapVersion& b) { return (a <=> b) == 0; }
};

/// Reads what `stap --version` prints (on stderr), of any age.
std::optional<StapVersion> parse_stap_version(std::string_view output);

/// "5.2" or "4.8/0.188", as written in workarounds.toml; of a kernel, "6.9-rc0".
std::optional<StapVersion> parse_version_number(std::string_view number);

/// The table of symbol names from which stap resolves kprobe.function.
enum class SymbolTableState { usable, stub, missing };

struct SymbolTable {
    SymbolTableState state = SymbolTableState::missing;
    std::filesystem::path path;  ///< the one stap will open; empty when missing
};

/// The target as the command line asks for it.
struct TargetRequest {
    std::string stap = "stap";      ///< --stap or $STAPGEN_STAP: a name or a path
    std::string release{};          ///< -r: a release, or the absolute path of a build tree; empty: the running kernel
    std::string debuginfod_urls{};  ///< $DEBUGINFOD_URLS: stap asks these servers for debuginfo
};

/// The tools and files that one machine has for one kernel. Always filled as far as it goes; whether that is enough,
/// the doctor says.
struct Target {
    std::string release;
    bool running = false;      ///< the kernel we run on
    std::string architecture;  ///< the kernel's, as `uname -m` there: "x86_64", "aarch64"
    /// As the release says it, or as it runs here; empty: neither. Headers of another one are not its own.
    std::string named_architecture;
    bool is_foreign = false;      ///< the architecture is not this machine's
    std::string release_option;   ///< for stap -r; empty where stap's default is meant
    std::filesystem::path build;  ///< kernel build tree
    bool build_has_config = false;
    bool build_has_makefile = false;
    std::filesystem::path source;  ///< where include/linux is; Debian splits it from `build`
    std::string cross_compile;     ///< for kbuild, where the tree does not say it itself: "aarch64-linux-gnu-"

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
