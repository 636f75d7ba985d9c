#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/system.h"

namespace stapgen::host {

/// Empty where it is not known.
std::string host_name(const System& system);

/// The running kernel, told so that its addresses can be understood on another machine. What cannot be read is empty.
struct Identity {
    std::string host_name, release, architecture;
    std::string build_id;                             ///< hexadecimal, of /sys/kernel/notes
    std::optional<std::uint64_t> text, stext, etext;  ///< where the kernel's code is; nothing where that is hidden
};
Identity read_identity(const System& system);

/// The GNU build-id among ELF notes, hexadecimal; empty if there is none.
std::string parse_build_id(std::string_view notes);

}  // namespace stapgen::host
