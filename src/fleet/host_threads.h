// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace stapgen::fleet {

/// Their numbers, as they were given.
using Hosts = std::vector<std::size_t>;

/// Calls for each host, `most` at a time or as many as there can be threads; `work` throws nothing. Ends with all.
void for_each(const Hosts& hosts, std::size_t most, const std::function<void(std::size_t)>& work);

/// How many hosts there are descriptors for, now; 1 or more.
std::size_t max_hosts_at_once();

}  // namespace stapgen::fleet
