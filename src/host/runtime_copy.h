#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/workarounds.h"

namespace stapgen::host {

/// A copy of stap's runtime folder with the patches in it, under `cache` and named after both, so that it is
/// made once and appears whole or not at all. Times are the originals', because stap's cache goes by them.
base::Result<std::filesystem::path> patched_runtime(const std::filesystem::path& runtime, std::string_view stap_version,
                                                    const std::vector<RuntimePatch>& patches,
                                                    const std::filesystem::path& cache, Making making);

}  // namespace stapgen::host
