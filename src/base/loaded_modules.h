#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::base {

/// A line of /proc/modules.
struct LoadedModule {
    std::string name;
    std::optional<std::uint64_t> base;  ///< nothing where the kernel hides it
    std::uint64_t size = 0;             ///< bytes
};

/// `NAME SIZE REFERENCES USERS STATE 0xBASE [TAINTS]`; nothing if it is not that.
std::optional<LoadedModule> parse_loaded_module(std::string_view line);

/// The text of /proc/modules. Error (bad_input), with line and column: another line. `origin` is the name of the file,
/// for messages.
Result<std::vector<LoadedModule>> parse_loaded_modules(std::string_view text, std::string_view origin);

}  // namespace stapgen::base
