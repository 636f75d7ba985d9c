// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "fleet/board.h"
#include "fleet/moments.h"
#include "fleet/remote.h"

namespace stapgen::fleet {

/// One measurement on many hosts.
struct Job {
    std::vector<std::string> hosts;
    SshOptions ssh;
    std::filesystem::path folder;  ///< for the recordings, HOST.rec, and fleet.json; made here
    std::string recipe;
    bool has_module = true;          ///< else hosts measure by `stapgen RECIPE`, and nothing is compiled or loaded
    std::vector<std::string> build;  ///< arguments of `stapgen build` behind it, without -o, for a host that compiles
    /// Hosts that may do so for others with their kernel, and whose modules may be signed, if this machine cannot.
    std::vector<std::string> compile_on;
    std::chrono::nanoseconds duration{};
    std::vector<std::string> measure;       ///< further arguments of `stapgen exec`, or of `stapgen RECIPE`
    std::optional<session::KeepPlan> keep;  ///< `measure` has it, too
    std::size_t batch = 0;                  ///< number of hosts at a time; 0: all
    /// The stapgen that hosts get, its content, by their architecture; one of another needs its own.
    std::map<std::string, std::string> programs;
    /// Makes the module for a kernel on this machine, or says why it cannot. Called for several at once.
    std::function<base::Result<std::filesystem::path>(const HostFacts& kernel)> compile;
    /// Signs a module's content, made here or on a host of compile_on; empty: it stays as it is.
    std::function<base::Result<std::string>(const std::string& module, const HostFacts& kernel)> sign;
    bool quiet = false;
};

/// What became of it.
struct Outcome {
    std::vector<Row> rows;
    std::vector<Moment> moments;  ///< at which they were to keep
    std::int64_t unkept = 0;      ///< further ones: too soon behind another one, or too many
};

/// Asks the hosts, compiles once for each kernel, measures on one host of each first, for a moment, then on all: each
/// begins when all of its batch are ready. SIGINT, SIGTERM and SIGHUP end all of them in order, a second one at once.
/// The rows are as the recordings have it. Where a condition of Job::keep holds on one host, or at SIGUSR1, all that
/// measure keep the seconds before; those recordings are taken out of the hosts' own. Errors are of this machine; what
/// a host cannot is in its row.
base::Result<Outcome> run(const Job& job);

/// The command that measures on each host, as a person would type it here who has put program and module there.
std::vector<std::string> commands_of(const Job& job);

}  // namespace stapgen::fleet
