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

/// A kernel as it ran, so that its addresses can be understood on another machine. What is not known is empty.
struct KernelIdentity {
    std::string release;
    std::string build_id;  ///< hexadecimal
    std::string architecture{};
    std::optional<std::uint64_t> text, stext, etext;  ///< where its code was; nothing where that is hidden
    std::vector<LoadedModule> modules{};
};

/// `NAME SIZE REFERENCES USERS STATE 0xBASE [TAINTS]`; if it is not that, the word that is wrong.
tl::expected<LoadedModule, std::string_view> parse_loaded_module(std::string_view line);

/// The text of /proc/modules. Error (bad_input), with line and column: another line. `origin` is the name of the file,
/// for messages.
Result<std::vector<LoadedModule>> parse_loaded_modules(std::string_view text, std::string_view origin);

}  // namespace stapgen::base
