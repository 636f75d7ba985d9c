#pragma once

#include <vector>

#include "host/system.h"
#include "module/make_options.h"
#include "recipe/program_files.h"

namespace stapgen::module {

/// Compiles beforehand what the first runs of these recipes would: stap's answers about the kernel's headers, and the
/// modules of a run without options and of one that is watched on a terminal, stay in stap's cache. A line for each
/// goes to stdout, with its time, and one for the cache. A recipe that cannot be compiled without more options is left
/// out, with a line; one that fails does not keep the others from it, and the first failure is the error.
base::Result<void> warm(const recipe::Program& program, const host::System& machine,
                        const std::vector<recipe::Recipe>& recipes, const MakeOptions& options);

}  // namespace stapgen::module
