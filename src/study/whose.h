// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rows/results.h"

/// Whose packets wait for something.
namespace stapgen::study {

struct WayOfStage {
    std::string name;
    std::int64_t n = 0;  ///< all its packets
    std::int64_t number = 0;
};

/// The directions whose packets spent time in a stage, or in that of a part.
std::vector<WayOfStage> ways_with(const rows::Results& results, std::string_view part);

/// "redis-server[233]", "4 threads of memcached[231]": if the `n` packets that waited there are all of one thread, one
/// process, or of threads of one name, as their groups or the filters show; else empty.
std::string whose_packets(const rows::Results& results, std::string_view part, std::int64_t n);

/// "10.0.0.1:6379 with 10.0.0.7:50112" of a connection, "redis-server[233]" of a thread.
std::string owner_name(const table::Group& group);

/// The one that stands out among those that wait.
struct OneOfMany {
    table::Group group;  ///< its connection or peer, and its thread or process, as far as these stand out
    double share = 0;    ///< its part of the time
    double packets_share = 0;
    std::string sentence;  ///< "; 83.1 % of that is of 2.5 % of them, those of 10.0.0.1:6379 with 10.0.0.7:50112"
};
std::optional<OneOfMany> stand_out_of(const rows::Results& results, std::string_view part);

/// "; the 5 slowest are of redis-server[233], with 10.0.0.2, behind spin[77]": if the slowest records of its direction
/// waited there for most of their time, and are all of one thread, with one address, or waited for one thing; else
/// empty.
std::string whose_slowest(const rows::Results& results, std::string_view part);

}  // namespace stapgen::study
