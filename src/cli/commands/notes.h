#pragma once

#include <string>
#include <vector>

#include "base/terminal.h"

namespace stapgen::cli {

/// What the user should know of a plan, on stderr.
inline void tell(const std::vector<std::string>& notes) {
    for (const auto& note : notes)
        base::tell(note);
}

}  // namespace stapgen::cli
