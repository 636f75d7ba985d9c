// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/threads.h"
#include "rows/results.h"
#include "session/remote.h"

namespace stapgen::serve {

enum class State { starting, measuring, waiting, ended };
inline constexpr std::array<std::string_view, 4> state_names{"starting", "measuring", "waiting", "ended"};

/// Why a recipe stopped measuring though nobody asked it to. All but the last are its exit code.
enum class Failure {
    failed,       ///< it went wrong while running
    refused,      ///< what it was asked for is not there: a thread that has ended
    cannot,       ///< this machine cannot do it: no stap, no headers, the module refused
    over_budget,  ///< the probes took more of a CPU than they may
    ended,        ///< SystemTap was ended from outside
    killed,       ///< by a signal
};
inline constexpr std::array<std::string_view, 6> failure_names{"failed",      "refused", "cannot",
                                                               "over_budget", "ended",   "killed"};

/// How a recipe fares.
struct Status {
    std::string recipe;
    State state = State::starting;
    std::optional<Failure> last_failure{};
    std::string why{};  ///< of it, for a person
    std::int64_t starts = 0;
    std::array<std::int64_t, failure_names.size()> failures{};
    std::optional<std::int64_t> last_interval_ns{};  ///< since 1970: when the last one came
    std::vector<std::string> probes{};               ///< as the module has them
    std::int64_t sample = 1;                         ///< one in this many sockets
    host::ProcessUse use{};                          ///< of its processes; of the CPUs since serve began
    std::optional<double> probe_cpu_s{};             ///< of its probes, in runs that measured it (--cost) and are over
    std::int64_t kept = 0;                           ///< recordings of the seconds before: --keep
    std::optional<session::KeptRecording> last_kept{};
    std::int64_t kept_out = 0;
    rows::Results measured{};
};

}  // namespace stapgen::serve
