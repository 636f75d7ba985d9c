// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/stap_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/facts.h"
#include "launch/module_file.h"

namespace stapgen::launch {

namespace {

using Argv = std::vector<std::string>;
using host::StapVersion;

bool at_least(const host::Target& target, int major, int minor) {
    // One that could not be read is taken for a new one.
    return !target.stap_version || *target.stap_version >= StapVersion{major, minor, {}};
}

void append(Argv& argv, const Argv& words) {
    argv.insert(argv.end(), words.begin(), words.end());
}

std::string_view macro_name(std::string_view definition) {
    return definition.substr(0, definition.find('='));
}

/// The kernel's name of it is another one than that of its programs.
std::string_view stap_architecture(std::string_view uname_machine) {
    return uname_machine == "aarch64" ? "arm64" : uname_machine;
}

/// The user's own -D of a name replaces the recipe's: two are an error where warnings are.
bool is_defined_by_user(std::string_view macro, const Argv& stap_options) {
    for (std::size_t i = 0; i < stap_options.size(); ++i) {
        std::string_view option = stap_options[i];
        if (!option.starts_with("-D")) continue;
        option.remove_prefix(2);
        if (option.empty() && i + 1 < stap_options.size()) option = stap_options[i + 1];
        if (macro_name(option) == macro_name(macro)) return true;
    }
    return false;
}

}  // namespace

void CompileOptions::apply(const host::AppliedWorkarounds& applied) {
    for (const auto& [key, value] : applied.kbuild) {
        auto& flags = kbuild[key];
        flags = flags.empty() ? value : value + " " + flags;
    }
    if (!applied.runtime.empty()) runtime = applied.runtime;
}

bool asks_for_guru(std::string_view option) {
    // Of STAP_SHORT_OPTIONS in SystemTap's cmdline.h, those with an argument: what follows in the word is that.
    constexpr std::string_view with_argument = "pIeEoRramcxDsldLSBJGT";
    if (!option.starts_with('-') || option.starts_with("--")) return false;
    option.remove_prefix(1);
    return option.substr(0, option.find_first_of(with_argument)).find('g') != std::string_view::npos;
}

Argv compile_argv(const host::Target& target, const CompileOptions& options) {
    // -v: the passes with their times.
    Argv argv{target.stap.empty() ? target.stap_asked : target.stap.string(), "-v"};
    if (at_least(target, 2, 6)) argv.push_back("--color=never");
    argv.push_back("-p4");
    if (!target.release_option.empty()) append(argv, {"-r", target.release_option});
    if (target.is_foreign) append(argv, {"-a", std::string(stap_architecture(target.architecture))});
    if (!target.cross_compile.empty()) append(argv, {"-B", "CROSS_COMPILE=" + target.cross_compile});
    for (const auto& folder : options.tapsets)
        append(argv, {"-I", folder.string()});
    for (const auto& [key, value] : options.kbuild)
        append(argv, {"-B", key + "=" + value});
    if (!options.runtime.empty()) append(argv, {"-R", options.runtime.string()});
    for (const auto& macro : options.macros) {
        if (!is_defined_by_user(macro, options.stap_options)) append(argv, {"-D", macro});
    }
    // Since 5.0 the report is left out where stap's stdout is no terminal.
    if (options.timing) append(argv, {"-t", "-D", "STP_FORCE_STDOUT_TTY"});
    if (!options.recipe_hash.empty() && at_least(target, 1, 7))
        append(argv, {"--modinfo", fmt::format("{}={}", recipe_key, options.recipe_hash)});
    if (options.guru) argv.push_back("-g");
    if (options.all_modules && at_least(target, 1, 4)) {
        argv.push_back("--all-modules");
    } else if (options.all_modules) {
        append(argv, {"-d", "kernel"});
        for (const auto& module : options.loaded_modules)
            append(argv, {"-d", module});
    }
    for (const auto& module : options.modules)
        append(argv, {"-d", module});
    append(argv, options.stap_options);
    argv.push_back(options.script.string());
    return argv;
}

Argv load_argv(const std::filesystem::path& staprun, const LoadOptions& options) {
    Argv argv{staprun.empty() ? "staprun" : staprun.string()};
    // Renamed by staprun, so that two runs of one module do not meet, and so that we know its name.
    if (!options.is_signed) argv.emplace_back("-R");
    if (options.target_id) append(argv, {"-x", fmt::to_string(*options.target_id)});
    if (options.buffer_mb) append(argv, {"-b", fmt::to_string(*options.buffer_mb)});
    argv.push_back(options.module.string());
    for (const auto& [name, value] : options.globals)
        argv.push_back(name + "=" + value);
    return argv;
}

Argv unload_argv(const std::filesystem::path& staprun, std::string_view module_name) {
    return {staprun.empty() ? "staprun" : staprun.string(), "-d", std::string(module_name)};
}

namespace {
constexpr std::int64_t staprun_takes = 4095;
}

std::optional<std::int64_t> buffer_to_hold(const Overflow& overflow) {
    if (overflow.lost_records <= 0 || overflow.buffer_mb <= 0) return std::nullopt;
    // struct _stp_trace in front of each; and a quarter, for pages that are not full and records longer than the mean.
    constexpr double header_bytes = 12, margin = 1.25, mb = 1024 * 1024;
    const auto more =
        std::ceil(static_cast<double>(overflow.lost_records) * (overflow.bytes_each + header_bytes) * margin / mb);
    const auto all = static_cast<double>(overflow.buffer_mb) + more;
    if (all > static_cast<double>(std::min(overflow.max_mb, staprun_takes))) return std::nullopt;
    return static_cast<std::int64_t>(all);
}

std::int64_t max_buffer_mb(const host::System& system, std::int64_t cpus) {
    const auto available = host::memory_mib(system, "MemAvailable");
    if (!available) return staprun_takes;
    return std::clamp<std::int64_t>(*available / 2 / std::max<std::int64_t>(cpus, 1), 1, staprun_takes);
}

}  // namespace stapgen::launch
