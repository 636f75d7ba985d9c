// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

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
#include "recording/facts.h"

namespace stapgen::session {

/// Whose packets are measured, understood.
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
    recording::TypedFilters as_typed;
    std::optional<std::int64_t> sample;  ///< one in this many sockets, where that was asked for
    std::vector<std::string> hints;      ///< that what was asked for is not there now; for the user
    std::optional<base::Error> missing;  ///< of a dry run: a namespace or container that is not there
};

/// One in `one_in` sockets; at most recording::largest_sample, a power of two.
void use_sample(std::int64_t one_in, Filters& filters);

/// Checks values. The thread of -x and the process of -p, and what --netns, --cgroup, --container and --pod name, must
/// be there, unless it is for a `dry_run`. The latter are looked for in the files below `root`.
base::Result<Filters> filters_of(const host::System& machine, const recording::TypedFilters& typed, bool dry_run,
                                 const std::filesystem::path& root = "/");

/// The kernel would ignore a parameter that the module does not have, and everything would be measured.
base::Result<void> check_module_has(const Filters& filters, const std::string& file, const launch::ModuleInfo& info);

}  // namespace stapgen::session
