#include "launch/buffer_size.h"

#include <algorithm>
#include <cmath>

#include "host/facts.h"

namespace stapgen::launch {

namespace {
constexpr std::int64_t staprun_takes = 4095;
}

std::optional<std::int64_t> buffer_to_hold(const Overflow& overflow) {
    if (overflow.lost_records <= 0 || overflow.buffer_mb <= 0) return std::nullopt;
    // struct _stp_trace in front of each; and a quarter, for pages that are not full and records longer than the mean.
    constexpr double header_bytes = 12, margin = 1.25, mb = 1024 * 1024;
    const auto more =
        std::ceil(static_cast<double>(overflow.lost_records) * (overflow.bytes_each + header_bytes) * margin / mb);
    const auto all = static_cast<double>(overflow.buffer_mb) + more;
    if (all > static_cast<double>(std::min(overflow.max_mb, staprun_takes))) return std::nullopt;
    return static_cast<std::int64_t>(all);
}

std::int64_t max_buffer_mb(const host::System& system, std::int64_t cpus) {
    const auto available = host::memory_mib(system, "MemAvailable");
    if (!available) return staprun_takes;
    return std::clamp<std::int64_t>(*available / 2 / std::max<std::int64_t>(cpus, 1), 1, staprun_takes);
}

}  // namespace stapgen::launch
