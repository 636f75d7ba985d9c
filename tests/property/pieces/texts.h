// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

/// Texts whose reading depends on what was read before, made at random.
namespace stapgen::pieces {

using Random = std::mt19937_64;

inline std::int64_t below(Random& random, std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

struct Kind {
    std::string_view name;
    std::string (*text)(Random& random, std::int64_t lines);
};

/// Text of Red Hat's script: clocks that are hours apart, that are set, years that are missing, stages not seen.
std::string stage_timing(Random& random, std::int64_t lines);
/// Text of dropwatch.stp: with times or without, many intervals or few, many places or few.
std::string dropwatch_script(Random& random, std::int64_t lines);
/// Recordings of ours: of packets (and calls, of another kind), of drops, of counts; with ticks.
std::string own_packets(Random& random, std::int64_t lines);
std::string own_drops(Random& random, std::int64_t lines);
/// kfree_skb of perf, with stacks and losses.
std::string kfree_skb(Random& random, std::int64_t lines);

/// The four formats that are read in pieces, the last one of ours in two ways.
const std::vector<Kind>& kinds();

/// Any text with lines between its own that may be anything: noise, messages, prompts, other formats, headers.
std::string disturbed(Random& random, std::string_view text, std::int64_t one_in);

}  // namespace stapgen::pieces
