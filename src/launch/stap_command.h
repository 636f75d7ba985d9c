// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "host/system.h"
#include "host/workarounds.h"

namespace stapgen::launch {

/// Options of stap when a module is made.
struct CompileOptions {
    std::filesystem::path script;
    std::vector<std::filesystem::path> tapsets;  ///< -I
    std::vector<std::string> macros;             ///< -D, without the -D
    std::map<std::string, std::string> kbuild;   ///< -B
    std::filesystem::path runtime;               ///< -R; empty: stap's own
    bool timing = false;                         ///< -t: what each probe costs is printed at the end
    std::string recipe_hash;                     ///< --modinfo: ModuleInfo::recipe_hash; empty: none
    bool guru = false;                           ///< -g: the recipe asks for it, and the user agreed
    bool all_modules = false;
    std::vector<std::string> modules;         ///< -d
    std::vector<std::string> loaded_modules;  ///< what --all-modules means to an old stap
    std::vector<std::string> stap_options;    ///< the user's own, put last

    void apply(const host::AppliedWorkarounds& applied);  ///< takes over its kbuild flags and runtime
};

/// Whether a word of the user's for stap holds -g, alone or among other letters (-vg).
bool asks_for_guru(std::string_view option);

/// `stap ... -p4 ... SCRIPT`: makes a module and prints its path.
std::vector<std::string> compile_argv(const host::Target& target, const CompileOptions& options);

/// Options of staprun when a module is run.
struct LoadOptions {
    std::filesystem::path module{};
    std::optional<std::int64_t> target_id{};       ///< -x
    std::optional<std::int64_t> buffer_mb{};       ///< -b, per CPU
    std::map<std::string, std::string> globals{};  ///< values of the script's global variables
    bool is_signed = false;                        ///< the module keeps its name, which is part of what was signed
};

/// `staprun -R ... MODULE.ko`; without -R where the module is signed.
std::vector<std::string> load_argv(const std::filesystem::path& staprun, const LoadOptions& options);

/// `staprun -d NAME`.
std::vector<std::string> unload_argv(const std::filesystem::path& staprun, std::string_view module_name);

/// Records that found the way from the kernel to user space full.
struct Overflow {
    std::int64_t buffer_mb = 0;  ///< per CPU (staprun -b); 0: not known
    std::int64_t lost_records = 0;
    double bytes_each = 0;       ///< of the lines that did arrive, with their line ends
    std::int64_t max_mb = 4095;  ///< what memory and staprun allow for a CPU
};

/// The buffer per CPU, in MB, that would have held them beside what was in it, had they all come on one CPU while
/// nobody read. Nothing if none was lost, if the size is not known, or if it would take more than max_mb.
std::optional<std::int64_t> buffer_to_hold(const Overflow& overflow);

/// The most MB per CPU that leave half of the available memory to others; staprun takes 1 to 4095. Where that memory is
/// not known, 4095.
std::int64_t max_buffer_mb(const host::System& system, std::int64_t cpus);

}  // namespace stapgen::launch
