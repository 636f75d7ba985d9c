// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/system.h"
#include "host/workarounds.h"
#include "launch/child_process.h"
#include "launch/messages.h"
#include "launch/progress.h"
#include "launch/stap_command.h"

namespace stapgen::launch {

/// Further text of a failure, below its hint: for Diagnosis::checks of its cause. A text that begins with
/// a line's end, or nothing.
using Explanation = std::function<std::string(std::string_view checks)>;

struct CompileJob {
    host::Target target{};
    CompileOptions options{};
    std::vector<host::BindMount> mounts{};                   ///< of the workarounds symbol-table and trace-headers
    std::map<std::string, std::string> environment{};        ///< additions
    std::filesystem::path cache{};                           ///< base::cache_directory()
    Progress* progress = nullptr;                            ///< may be none
    std::function<void(std::string_view line)> stap_said{};  ///< every line of stderr, for -v; may be empty
    Handlers timing{};                                       ///< its periods only
    Explanation explanation{};                               ///< may be empty
};

struct Compiled {
    std::filesystem::path module;
    std::vector<Diagnosis> warnings;
};

/// Makes the module. A failure names the pass, the cause and the remedy; stap's whole output is then in
/// cache/last-failure.log.
base::Result<Compiled> compile(const CompileJob& job);

/// The command exactly as compile() would start it, for --dry-run and for the recording's header.
Command compile_command(const CompileJob& job);

struct LoadJob {
    host::Target target{};
    LoadOptions options{};
    std::map<std::string, std::string> environment{};
    std::filesystem::path cache{};
    Handlers handlers{};             ///< `error` gets every line of staprun's stderr
    std::function<void()> loaded{};  ///< the module is in the kernel, its file is no longer needed; may be empty
    Explanation explanation{};       ///< may be empty
    bool is_built = false;           ///< the module was made before: what is compiled in is changed by `stapgen build`
};

/// How a measurement ended, and what SystemTap says of it.
struct LoadEnd {
    Ending ending;
    Losses losses;
    std::vector<Diagnosis> messages;     ///< warnings, losses and errors it ended with, each once; not `failure`
    std::vector<std::string> cleanup;    ///< what had to be done to get the module out; for the user
    std::optional<base::Error> failure;  ///< it broke off after some output: show what there is, then this
    std::string broke_off;               ///< then: why, without what stapgen did at the time
};

/// Loads the module and hands out its records until it ends or is stopped. Whatever happens, afterwards the
/// module is out of the kernel, or the result says that it is not. An error: nothing was measured.
base::Result<LoadEnd> load(const host::System& system, const LoadJob& job);
Command load_command(const LoadJob& job);

}  // namespace stapgen::launch
