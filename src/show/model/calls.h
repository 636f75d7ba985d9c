// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "table/results.h"

/// Calls of the kernel's functions as people see them.
namespace stapgen::show {

/// A row of the table "calls".
struct Call {
    std::int64_t packet = 0;  ///< the number of the tree that it belongs to
    std::int64_t begin_ns = 0, duration_ns = 0, depth = 0;
    std::string function, args;
    bool in_thread = false;  ///< else in softirq
    std::int64_t cpu = 0, tid = 0;
    std::string comm;
};

/// In the order of the table: a call precedes those that it made.
std::vector<Call> calls_of(const table::Results& results);

/// The calls of one tree as ftrace's function_graph shows them, with when each began: a part for each context, of
/// softirq on a CPU or of a thread. Lines of text with their ends; as long as names are deep, so nothing is cut.
/// `calls` are of one packet and in the order of calls_of(). Control characters are made visible.
std::string call_tree(std::span<const Call> calls);

/// The calls of each tree.
std::vector<std::span<const Call>> call_trees(std::span<const Call> calls);

/// Those of one tree by context, of softirq on a CPU or of a thread, in their order.
std::vector<std::span<const Call>> call_contexts(std::span<const Call> tree);
/// "in softirq on CPU 3", "in thread 191 reader".
std::string context_text(const Call& call);

}  // namespace stapgen::show
