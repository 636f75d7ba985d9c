#pragma once

#include <filesystem>

namespace stapgen::host {

/// For one child only, in a mount namespace of its own: `source` is seen at `target`.
struct BindMount {
    std::filesystem::path source;
    std::filesystem::path target;
};

}  // namespace stapgen::host
