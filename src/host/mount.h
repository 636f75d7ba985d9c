#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stapgen::host {

/// Of what a workaround keeps in the cache: it is made now, or only named, where it would be.
enum class Making { now, planned };

/// For one child only, in a mount namespace of its own: `source` is seen at `target`.
struct BindMount {
    std::filesystem::path source;
    std::filesystem::path target;
    bool optional = false;  ///< where it cannot be made, the child does without it and the optional ones behind it
};

/// What a workaround changes for stap's process.
struct ProcessWorkaround {
    std::vector<BindMount> mounts;  ///< in this order
    std::string flags;              ///< for KCPPFLAGS, so that what is hidden from stap is found by the compiler
    std::string line;               ///< for the user: what is done and why
};

}  // namespace stapgen::host
