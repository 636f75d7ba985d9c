#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/system.h"
#include "live/terminal.h"
#include "recipe/recipe.h"
#include "recording/facts.h"
#include "recording/writer.h"
#include "report/presentation.h"
#include "session/filters.h"

namespace stapgen::session {

/// The same, understood.
struct MeasurePlan {
    Filters filters;
    std::optional<std::chrono::nanoseconds> duration;
    std::optional<std::int64_t> intervals;
    report::Presentation presentation;
    bool events = false;
    std::optional<std::filesystem::path> output;  ///< of the recording
    recording::Rotation rotation;
    std::optional<std::int64_t> buffer_mb;
    bool quiet = false, verbose = false;
    bool live = false;  ///< shown on the terminal as it goes on
    live::Colours colours = live::Colours::automatic;
    std::vector<std::string> notes;  ///< what the user should know of it; none if `quiet`
};

struct Aggregation {
    bool in_kernel = false;
    std::string note;  ///< for the user; empty if there is nothing to say
};

/// Where and by which command a measurement is made.
void put_origin(const host::System& machine, const MeasurePlan& plan, recording::Setup& setup);

/// Whether the records of a run are aggregated in the kernel: where it was asked for, and by default in a long run that
/// asks for nothing that needs single records, which the note says. Fails where both are asked for.
base::Result<Aggregation> aggregation_of(const recipe::Recipe& recipe, bool asked, const MeasurePlan& plan);

}  // namespace stapgen::session
