#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/host.h"
#include "host/mount.h"

namespace stapgen::host {

/// stap compiles each header of tracepoints that it finds in the kernel's tree, to know what is in it, before it sets
/// the first kernel.trace. Here it is shown those alone that define the given tracepoints. Nothing where one of these
/// is in no such header (then it may be made by a macro), where the kernel's tree has none, where this process may not
/// mount, and where the cache's path is not fit for a compiler's flag. All its mounts are optional.
///
/// The flags are the same whatever is shown, for stap keeps its answers by them; so answers are shared by all recipes,
/// and none by a stap without this workaround.
base::Result<std::optional<ProcessWorkaround>> provide_trace_headers(const System& system, const Target& target,
                                                                     const std::set<std::string>& tracepoints,
                                                                     const std::filesystem::path& cache,
                                                                     Making making = Making::now);

/// Whether the text of a header may define the tracepoint: its name is the first or a middle argument of something.
bool may_define(std::string_view header, std::string_view tracepoint);

}  // namespace stapgen::host
