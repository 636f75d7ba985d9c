// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rows/results.h"

namespace stapgen::show {

/// A row of rows::Slowest: its stages in the order of its way, each beginning where the one before it ends.
struct SlowRecord {
    struct Step {
        std::string stage;
        std::int64_t begin_ns = 0, ns = 0;
        std::vector<std::pair<std::string, std::int64_t>> parts;  ///< causes of waiting in it, and ns
    };
    std::int64_t total_ns = 0;
    std::optional<std::int64_t>
        time_ns;  ///< of its end: since 1970 where the run has a start, else since the first block
    table::Group of;
    std::vector<Step> steps;     ///< those that were seen
    std::int64_t length_ns = 1;  ///< of the record and of all steps; at least 1
};

/// The slowest of the direction with that number, the largest first.
std::vector<SlowRecord> slowest_of(const rows::Results& results, std::int64_t direction);

/// Whether times are of a day; else they are since the first record.
bool has_epoch(const rows::Results& results);

/// What one record is of, for a person: "rx 10.0.0.2:4000 > 10.0.0.1:11211, 101 bytes, eth0, mc-worker/190, pid 186,
/// cpu 0, run-queue 5.00 ms behind spin[77]". An arrow between the endpoints shows where the packets of the ways rx and
/// tx go; without one the local endpoint is the first. What is not known is left out, control characters are made
/// visible.
std::string record_name(std::string_view direction, const table::Group& of);

}  // namespace stapgen::show
