// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "recording/facts.h"

namespace stapgen::fleet {

/// A recording of the seconds before, which came within a host's.
struct KeptFile {
    std::filesystem::path file;
    recording::Kept kept;   ///< as the host says
    bool is_whole = false;  ///< it was closed, and nothing broke off
};

struct KeptFiles {
    std::vector<KeptFile> files;
    std::string why;  ///< why there may be more; empty: these are all
};

/// Takes those out of a host's recording that were asked for, each once: of moment N into the Nth folder, which is made
/// where it is not there, under the recording's own name. They are as they came, and no more to be trusted than that
/// recording. `most_bytes`: of all together.
KeptFiles take_kept(const std::filesystem::path& recording, const std::vector<std::filesystem::path>& folders,
                    std::uint64_t most_bytes);

}  // namespace stapgen::fleet
