#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stapgen::recording {

/// Files that belong together: the parts of one run, or one file of anything.
struct Run {
    std::string id;  ///< empty: no recording of ours
    std::vector<std::filesystem::path> files;
    /// First and last number of parts that are not there, before or between those that are. Whether some are missing
    /// behind the last one is in its trailer: `continued`.
    std::vector<std::pair<std::int64_t, std::int64_t>> missing;
};

/// Groups files by run in the order in which each run first occurs, and puts its parts in order. A recording is known
/// by its first line. What is no regular file ("-", a pipe) cannot be looked into twice and is a run of its own.
/// Errors: a file cannot be read; two files are the same part of a run.
base::Result<std::vector<Run>> runs_of(const std::vector<std::filesystem::path>& files);

}  // namespace stapgen::recording
