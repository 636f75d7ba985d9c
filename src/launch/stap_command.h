#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "host/workarounds.h"

namespace stapgen::launch {

/// What decides stap's command line when a module is made.
struct CompileOptions {
    std::filesystem::path script;
    std::vector<std::filesystem::path> tapsets;  ///< -I
    std::vector<std::string> macros;             ///< -D, without the -D
    std::map<std::string, std::string> kbuild;   ///< -B
    std::filesystem::path runtime;               ///< -R; empty: stap's own
    bool timing = false;                         ///< -t: what each probe costs is printed at the end
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

/// What decides staprun's command line when a module is run.
struct LoadOptions {
    std::filesystem::path module{};
    std::optional<std::int64_t> target_id{};       ///< -x
    std::optional<std::int64_t> buffer_mb{};       ///< -b, per CPU
    std::map<std::string, std::string> globals{};  ///< values of the script's global variables
};

/// `staprun -R ... MODULE.ko`.
std::vector<std::string> load_argv(const std::filesystem::path& staprun, const LoadOptions& options);

/// `staprun -d NAME`.
std::vector<std::string> unload_argv(const std::filesystem::path& staprun, std::string_view module_name);

}  // namespace stapgen::launch
