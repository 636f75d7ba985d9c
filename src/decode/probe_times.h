#pragma once

#include <optional>
#include <string_view>

#include "decode/record.h"

namespace stapgen::decode {

/// A line of what `stap -t` prints on stdout behind the script's last line, without its '\n': a probe point's hits and
/// cycles; else a heading, a lock's contention or the times of what is no part of the measurement (the runtime's start,
/// begin and end), with an empty `point`. Nothing if it is another line. The format: c_unparser::emit_module_exit in
/// SystemTap's translate.cxx.
std::optional<ProbeTimes> parse_probe_times(std::string_view line);

}  // namespace stapgen::decode
