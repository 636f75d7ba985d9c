#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stapgen::host {

/// What a line of /proc/meminfo says ("MemFree:   1234 kB"), in MiB. Nothing if there is none of this key, which is
/// given with its colon; 0 if it has no number.
std::optional<std::int64_t> memory_mib(std::string_view meminfo, std::string_view key);

}  // namespace stapgen::host
