#include "host/clocks.h"

#include <time.h>

#include <cstdlib>

namespace stapgen::host {

namespace {

std::int64_t now_ns(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t reported(std::int64_t change_ns) {
    constexpr std::int64_t min_reported = 20'000'000;
    return std::abs(change_ns) < min_reported ? 0 : change_ns;
}

}  // namespace

ClockOffsets read_clock_offsets() {
    // Somebody else may have run between the readings.
    constexpr int tries = 10;
    constexpr std::int64_t soon = 1'000'000;
    ClockOffsets offsets;
    for (int i = 0; i < tries; ++i) {
        const auto before = now_ns(CLOCK_MONOTONIC);
        offsets = {now_ns(CLOCK_REALTIME) - before, now_ns(CLOCK_BOOTTIME) - before};
        if (now_ns(CLOCK_MONOTONIC) - before < soon) break;
    }
    return offsets;
}

ClockChange change_of(const ClockOffsets& before, const ClockOffsets& after) {
    const auto suspended = after.boottime_ns - before.boottime_ns;
    const auto realtime = after.realtime_ns - before.realtime_ns;
    return {reported(realtime - suspended), reported(suspended)};
}

std::optional<std::uint64_t> read_cycles() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return std::nullopt;
#endif
}

}  // namespace stapgen::host
