// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/summary.h"
#include "table/breakdown.h"

namespace stapgen::report {

/// One record's stages in the order of its way, each beginning where the one before it ends.
struct Timeline {
    struct Step {
        std::size_t stage = 0;  ///< place in Breakdown::stages()
        std::int64_t begin_ns = 0, ns = 0;
    };
    std::vector<Step> steps;     ///< those that were seen
    std::int64_t length_ns = 1;  ///< of the record and of all steps; at least 1
};

Timeline timeline_of(const analyze::SlowRecord& record);

/// What one record is of, for a person: "rx 10.0.0.2:4000 > 10.0.0.1:11211, 101 bytes, eth0, mc-worker/190, pid 186,
/// cpu 0". An arrow between the endpoints shows where the packets of the ways rx and tx go; without one the local
/// endpoint is the first. What is not known is left out, control characters are made visible.
std::string record_name(std::string_view direction, const analyze::Group& of);

/// Where the tail comes from, in one sentence for a person: how much longer the records above that percentile take
/// than the others, and the stages that hold 80 % of the difference (three at most, else that none stands out), each
/// with its part of their time and of the others'. Says so where there are too few records or none is above. Empty
/// without records. No line end, no control characters.
std::string tail_sentence(const analyze::Breakdown& breakdown, double percent = 99);

/// The stage that holds the largest part of the difference; empty where none stands out.
std::string stage_of_tail(const analyze::Breakdown::Tail& tail);

/// The calls of one tree as ftrace's function_graph shows them, with when each began: a part for each context, of
/// softirq on a CPU or of a thread. Lines of text with their ends; as long as names are deep, so nothing is cut.
/// `calls` are of one packet and in the order of Summary::calls. Control characters are made visible.
std::string call_tree(std::span<const analyze::Call> calls);

/// The calls of each tree.
std::vector<std::span<const analyze::Call>> call_trees(const analyze::Summary& summary);

/// Those of one tree by context, of softirq on a CPU or of a thread, in their order.
std::vector<std::span<const analyze::Call>> call_contexts(std::span<const analyze::Call> tree);
/// "in softirq on CPU 3", "in thread 191 reader".
std::string context_text(const analyze::Call& call);

/// "12 calls more are not shown", or nothing.
std::string calls_left_out(const analyze::Summary& summary);

}  // namespace stapgen::report
