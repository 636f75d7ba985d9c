// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rows/results.h"

/// What threads slept for while they had a request to answer, as sock-latency --parts says it.
namespace stapgen::study {

/// What they slept for most, of the sleeps that a part is about.
struct SleptFor {
    std::string waited, by;  ///< "lock", "cache_lock in app"
    double share = 0;        ///< of the time of these sleeps, 0 to 1
    std::int64_t n = 0;      ///< sleeps for that
    std::string waker;       ///< the thread that ended most of them; empty: none did
    std::int64_t n_woken = 0;
    std::string holder;  ///< the thread that had the lock in most of them; empty: that is not known
    std::int64_t n_held = 0;
    std::string meanwhile;  ///< what the holder was in for most of that time: a part of app; empty: not known
    double meanwhile_share = 0;
};

/// Of "app.lock" those for a lock. Nothing: it is no such part, the results do not say it, or the largest has below 5
/// %.
std::optional<SleptFor> slept_for(const rows::Results& results, std::string_view part);
/// "; 97.3 % of that sleep was for cache_lock in app, which flusher[77] held (598 of 612 times), mostly in disk (93 %);
/// flusher[77] ended 598 of 612 sleeps".
std::string sleep_sentence(const SleptFor& slept);
/// What can be done about a lock, where it is known what its holder does; else empty.
std::string remedy_of(const SleptFor& slept);

/// The part of the sleeps' time that is in rows beyond the limit, which do not say what for: 0 to 1.
double unnamed_share(const rows::Results& results);

/// "; asked 10.0.0.5:5432 1.9 times per request: sent to first byte 1.18 ms (mean of 78,091)": of the servers that took
/// longest. Empty: the results do not say it. How often per request is said where the sleeps for servers are those of
/// the requests.
std::string asked_sentence(const rows::Results& results);

}  // namespace stapgen::study
