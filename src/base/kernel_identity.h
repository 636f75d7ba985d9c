#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/loaded_modules.h"

namespace stapgen::base {

/// A kernel as it ran, so that its addresses can be understood on another machine. What is not known is empty.
struct KernelIdentity {
    std::string release;
    std::string build_id;  ///< hexadecimal
    std::string architecture{};
    std::optional<std::uint64_t> text, stext, etext;  ///< where its code was; nothing where that is hidden
    std::vector<LoadedModule> modules{};
};

}  // namespace stapgen::base
