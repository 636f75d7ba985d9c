#pragma once

#include <cstdint>
#include <optional>

namespace stapgen::host {

/// How far other clocks are ahead of CLOCK_MONOTONIC, ns. Slewing (NTP) leaves both as they are.
struct ClockOffsets {
    std::int64_t realtime_ns = 0;  ///< changes where the wall clock is set, and by every suspend
    std::int64_t boottime_ns = 0;  ///< changes by every suspend
};
ClockOffsets read_clock_offsets();

/// What happened to the clocks between two moments; 0 where nothing did, or less than 20 ms.
struct ClockChange {
    std::int64_t set_ns = 0;        ///< the wall clock was set forward by so much; negative: back
    std::int64_t suspended_ns = 0;  ///< the machine was suspended for so long
};
ClockChange change_of(const ClockOffsets& before, const ClockOffsets& after);

/// The counter that the kernel's get_cycles() reads, and so SystemTap: the TSC, on arm64 the virtual counter. Nothing
/// on other machines.
std::optional<std::uint64_t> read_cycles();

}  // namespace stapgen::host
