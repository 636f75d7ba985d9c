#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyze/summary.h"

namespace stapgen::report {

/// The calls of one tree as ftrace's function_graph shows them, with when each began: a part for each context, of
/// softirq on a CPU or of a thread. Lines of text with their ends; as long as names are deep, so nothing is cut.
/// `calls` are of one packet and in the order of Summary::calls. Control characters are made visible.
std::string call_tree(std::span<const analyze::Call> calls);

/// The calls of each tree.
std::vector<std::span<const analyze::Call>> call_trees(const analyze::Summary& summary);

/// "12 calls more are not shown", or nothing.
std::string calls_left_out(const analyze::Summary& summary);

}  // namespace stapgen::report
