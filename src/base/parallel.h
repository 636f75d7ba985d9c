// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace stapgen::base {

/// How many CPUs this process may run on; 1 or more.
std::size_t usable_cpus();

/// 0 to `end` - 1.
std::vector<std::size_t> numbers_below(std::size_t end);

/// Calls for each number, `most` at a time or as many as there can be threads; `work` throws nothing. Ends with all.
void for_each(const std::vector<std::size_t>& numbers, std::size_t most, const std::function<void(std::size_t)>& work);

}  // namespace stapgen::base
