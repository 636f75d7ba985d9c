// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/system.h"
#include "recipe/recipe.h"
#include "recording/facts.h"
#include "recording/writer.h"
#include "session/filters.h"
#include "session/presentation.h"
#include "when/condition.h"

namespace stapgen::session {

/// What is kept of the seconds that have passed, and when.
struct KeepPlan {
    std::chrono::nanoseconds before{0}, after = std::chrono::seconds(5);
    std::vector<when::Condition> conditions;    ///< beside SIGUSR1
    std::filesystem::path folder = ".";         ///< that recordings are put in; "-": see in_recording()
    recording::Rotation most{256'000'000, 20};  ///< of them: bytes, and files
    std::uint64_t memory = 32U << 20U;          ///< bytes, for lines of a module that has no ring
    bool own_intervals = false;                 ///< there are intervals for conditions only: no report is shown of them

    /// What is kept comes as lines within the recording, and who steers the measurement decides when.
    [[nodiscard]] bool in_recording() const { return folder == "-"; }
};

/// A measurement as it was asked for, checked.
struct MeasurePlan {
    Filters filters;
    std::optional<std::chrono::nanoseconds> duration;
    std::optional<std::int64_t> intervals;
    Presentation presentation;
    bool events = false;
    recording::Labels labels;
    /// Facts of the module from its maker: parameters, recipe_hash, functions, hash_of, stap_version. The
    /// functions may come once the recording is begun.
    recording::Setup made;
    std::optional<std::filesystem::path> output;  ///< of the recording
    recording::Rotation rotation;
    std::optional<KeepPlan> keep;
    std::optional<std::int64_t> buffer_mb;
    bool quiet = false, verbose = false;
    bool remote = false;  ///< another stapgen steers it: remote.h. The recording goes to stdout, and no report
    bool live = false;    ///< shown on the terminal as it goes on
    std::vector<std::string> notes;  ///< what the user should know of it; none if `quiet`
};

struct Aggregation {
    bool in_kernel = false;
    std::string note;  ///< for the user; empty if there is nothing to say
};

/// The facts of `made`, and where and by which command the measurement is made.
recording::Setup setup_of(const host::System& machine, const MeasurePlan& plan);
/// Adds the facts of the script's first line: the recipe, and so the definition.
void put_recipe(const MeasurePlan& plan, const std::string& recipe, recording::Setup& setup);

/// Whether the records of a run are aggregated in the kernel: where it was asked for, and by default in a long run that
/// asks for nothing that needs single records, which the note says. Fails where both are asked for.
base::Result<Aggregation> aggregation_of(const recipe::Recipe& recipe, bool asked, const MeasurePlan& plan);

}  // namespace stapgen::session
