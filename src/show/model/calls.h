// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rows/results.h"

/// Calls of the kernel's functions as people see them.
namespace stapgen::show {

using rows::Call;

/// The calls of one tree as ftrace's function_graph shows them, with when each began: a part for each context, of
/// softirq on a CPU or of a thread. Lines of text with their ends; as long as names are deep, so nothing is cut.
/// `calls` are of one packet and in the order of their table. Control characters are made visible.
std::string call_tree(std::span<const Call> calls);

/// The calls of each tree.
std::vector<std::span<const Call>> call_trees(std::span<const Call> calls);

/// Those of one tree by context, of softirq on a CPU or of a thread, in their order.
std::vector<std::span<const Call>> call_contexts(std::span<const Call> tree);
/// "in softirq on CPU 3", "in thread 191 reader".
std::string context_text(const Call& call);

}  // namespace stapgen::show
