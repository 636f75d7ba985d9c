#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/threads.h"
#include "launch/module_file.h"
#include "recipe/recipe.h"

namespace stapgen::session {

/// Whose packets are measured, as typed.
struct FilterOptions {
    std::optional<std::int64_t> target_tid, target_pid, port, sample;
    std::optional<std::string> comm, address, device, mark;
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
    std::int64_t sample = 1;                      ///< one in so many sockets
    std::vector<std::string> hints;               ///< that what was asked for is not there now; for the user
};

/// One in `one_in` sockets; at most 65536, a power of two.
inline constexpr std::int64_t largest_sample = 65536;
void use_sample(std::int64_t one_in, Filters& filters);

/// Checks values. The thread of -x and the process of -p must exist, unless it is for a `dry_run`.
base::Result<Filters> filters_of(const host::System& machine, const FilterOptions& options, bool dry_run);

/// The kernel would ignore a parameter that the module does not have, and everything would be measured.
base::Result<void> check_module_has(const Filters& filters, const std::string& file, const launch::ModuleInfo& info);

}  // namespace stapgen::session
