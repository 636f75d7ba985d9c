#pragma once

#include <cstdint>
#include <optional>

#include "host/system.h"

namespace stapgen::launch {

/// Records that found the way from the kernel to user space full.
struct Overflow {
    std::int64_t buffer_mb = 0;  ///< per CPU (staprun -b); 0: not known
    std::int64_t lost_records = 0;
    double bytes_each = 0;       ///< of the lines that did arrive, with their line ends
    std::int64_t max_mb = 4095;  ///< what memory and staprun allow for a CPU
};

/// The buffer per CPU, in MB, that would have held them beside what was in it, had they all come on one CPU while
/// nobody read. Nothing if none was lost, if the size is not known, or if it would take more than max_mb.
std::optional<std::int64_t> buffer_to_hold(const Overflow& overflow);

/// The most MB per CPU that leave half of the available memory to others; staprun takes 1 to 4095. Where that memory is
/// not known, 4095.
std::int64_t max_buffer_mb(const host::System& system, std::int64_t cpus);

}  // namespace stapgen::launch
