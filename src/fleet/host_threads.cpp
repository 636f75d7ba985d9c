// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/host_threads.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "base/process.h"

namespace stapgen::fleet {

void for_each(const Hosts& hosts, std::size_t most, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    const auto work_on = [&] {
        for (std::size_t at = next++; at < hosts.size(); at = next++)
            work(hosts[at]);
    };
    std::vector<std::thread> threads;
    try {
        for (std::size_t i = 0; i < std::min(most, hosts.size()); ++i)
            threads.emplace_back(work_on);
    } catch (const std::system_error&) {
        if (threads.empty()) work_on();
    }
    for (auto& thread : threads)
        thread.join();
}

std::size_t max_hosts_at_once() {
    // Each has a child with three pipes, an event loop with three descriptors, and a recording. For a moment, while one
    // is started, there are some more.
    constexpr std::size_t for_each_host = 7, for_us = 40;
    const auto free = base::free_descriptors();
    return std::max<std::size_t>((free - std::min(free, for_us)) / for_each_host, 1);
}

}  // namespace stapgen::fleet
