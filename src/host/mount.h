#pragma once

#include <filesystem>

namespace stapgen::host {

/// Of what a workaround keeps in the cache: it is made now, or only named, where it would be.
enum class Making { now, planned };

/// For one child only, in a mount namespace of its own: `source` is seen at `target`.
struct BindMount {
    std::filesystem::path source;
    std::filesystem::path target;
    bool optional = false;  ///< where it cannot be made, the child does without it and the optional ones behind it
};

}  // namespace stapgen::host
