#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/host.h"
#include "host/mount.h"

namespace stapgen::host {

/// From the text of /proc/kallsyms or a System.map: the kernel's own text symbols, no module's, in the form
/// stap reads. Addresses may be all zero (kptr_restrict): stap needs only the names. Empty if there are none.
std::string system_map_from(std::string_view kallsyms);

/// True if stap would find a function in it: a stub as Debian ships it has none.
bool names_functions(std::string_view system_map);

/// Where the symbol table is a stub or missing: one made from `symbols` (kallsyms text or System.map, maybe
/// compressed) or from /proc/kallsyms if the target is the running kernel, kept under `cache`, and the mount
/// that lets stap see it. Nothing if stap has a usable table and `symbols` is empty, or if there is nothing to make one
/// from and `symbols` is empty (then debuginfo may still do).
base::Result<std::optional<ProcessWorkaround>> provide_symbol_table(const System& system, const Target& target,
                                                                    const std::optional<std::filesystem::path>& symbols,
                                                                    const std::filesystem::path& cache,
                                                                    Making making = Making::now);

}  // namespace stapgen::host
