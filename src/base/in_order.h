// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <mutex>
#include <vector>

namespace stapgen::base {

/// Reads blocks, works on them and puts them out in the order in which they were read. `next` fills a block; false:
/// there is none. `put` says whether more are wanted. Each of these two is called by one thread at a time, and `work`
/// by several: as soon as a block has been read another thread waits for the next one, so what is there is answered at
/// once. There are at most `max_threads()` of them, which is asked after each block until there are as many. No
/// exception may leave the three.
template <class Block, class Next, class Work, class Put, class MaxThreads>
void in_order(const Next& next, const Work& work, const Put& put, const MaxThreads& max_threads) {
    std::mutex reading, writing;
    std::condition_variable turn;
    std::size_t read = 0, written = 0;
    bool at_end = false;
    std::atomic<bool> is_wanted = true;
    std::vector<std::future<void>> others;  // those that cannot be started wait for nothing
    const auto pass_on = [&](const auto& self) noexcept -> void {
        for (Block block;;) {
            std::unique_lock one_reads(reading);
            at_end = at_end || !is_wanted || !next(block);
            if (at_end) return;
            const auto number = read++;
            if (others.size() + 1 < max_threads()) {
                others.push_back(std::async(std::launch::async | std::launch::deferred, [&self] { self(self); }));
            }
            one_reads.unlock();
            work(block);
            std::unique_lock one_writes(writing);
            turn.wait(one_writes, [&] { return written == number; });
            if (is_wanted) is_wanted = put(block);
            ++written;
            turn.notify_all();
        }
    };
    pass_on(pass_on);
    for (const auto& other : others)
        other.wait();
}

}  // namespace stapgen::base
