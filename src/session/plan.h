// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/system.h"
#include "host/threads.h"
#include "launch/module_file.h"
#include "recipe/recipe.h"
#include "recording/facts.h"
#include "recording/writer.h"
#include "report/presentation.h"

namespace stapgen::session {

/// Whose packets are measured, as typed.
struct FilterOptions {
    std::optional<std::int64_t> target_tid, target_pid, port, sample;
    std::optional<std::string> comm, expression, address, device, mark;
    std::optional<std::string> netns, cgroup, container, pod;
    bool operator==(const FilterOptions&) const = default;
};

/// The same, understood.
struct Filters {
    /// An option that was used, and the parameters that a module must have for it.
    struct Used {
        std::string option;
        std::set<std::string> parameters;
    };

    std::optional<std::int64_t> target_id;       ///< of -x or -p
    std::optional<host::Task> target;            ///< the same, if it is there
    std::map<std::string, std::string> globals;  ///< values of the script's globals
    std::vector<Used> used;
    std::map<std::string, std::string> as_typed;  ///< option without dashes -> its value
    std::int64_t sample = 1;                      ///< one in this many sockets
    std::vector<std::string> hints;               ///< that what was asked for is not there now; for the user
    std::optional<base::Error> missing;           ///< of a dry run: a namespace or container that is not there
};

/// One in `one_in` sockets; at most recording::largest_sample, a power of two.
void use_sample(std::int64_t one_in, Filters& filters);

/// Checks values. The thread of -x and the process of -p, and what --netns, --cgroup, --container and --pod name, must
/// be there, unless it is for a `dry_run`. The latter are looked for in the files below `root`.
base::Result<Filters> filters_of(const host::System& machine, const FilterOptions& options, bool dry_run,
                                 const std::filesystem::path& root = "/");

/// The kernel would ignore a parameter that the module does not have, and everything would be measured.
base::Result<void> check_module_has(const Filters& filters, const std::string& file, const launch::ModuleInfo& info);

/// What is asked of a measurement, understood.
struct MeasurePlan {
    Filters filters;
    std::optional<std::chrono::nanoseconds> duration;
    std::optional<std::int64_t> intervals;
    report::Presentation presentation;
    bool events = false;
    recording::Labels labels;
    /// What whoever made the module knows of it: parameters, recipe_hash, functions, hash_of, stap_version. The
    /// functions may come once the recording is begun.
    recording::Setup made;
    std::optional<std::filesystem::path> output;  ///< of the recording
    recording::Rotation rotation;
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

/// What `made` says, and where and by which command the measurement is made.
recording::Setup setup_of(const host::System& machine, const MeasurePlan& plan);
/// What the script's first line adds: the recipe, and so the definition.
void put_recipe(const MeasurePlan& plan, const std::string& recipe, recording::Setup& setup);

/// Whether the records of a run are aggregated in the kernel: where it was asked for, and by default in a long run that
/// asks for nothing that needs single records, which the note says. Fails where both are asked for.
base::Result<Aggregation> aggregation_of(const recipe::Recipe& recipe, bool asked, const MeasurePlan& plan);

}  // namespace stapgen::session
