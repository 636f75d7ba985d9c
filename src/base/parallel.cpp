// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <system_error>
#include <thread>

namespace stapgen::base {

std::size_t usable_cpus() {
    cpu_set_t allowed;
    const bool is_known = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    const auto cpus = is_known ? static_cast<unsigned>(CPU_COUNT(&allowed)) : std::thread::hardware_concurrency();
    return std::max(cpus, 1U);
}

std::vector<std::size_t> numbers_below(std::size_t end) {
    std::vector<std::size_t> numbers(end);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
}

void for_each(const std::vector<std::size_t>& numbers, std::size_t most, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    const auto work_on = [&] {
        for (std::size_t at = next++; at < numbers.size(); at = next++)
            work(numbers[at]);
    };
    std::vector<std::thread> threads;
    try {
        for (std::size_t i = 0; i < std::min(most, numbers.size()); ++i)
            threads.emplace_back(work_on);
    } catch (const std::system_error&) {
        if (threads.empty()) work_on();
    }
    for (auto& thread : threads)
        thread.join();
}

}  // namespace stapgen::base
