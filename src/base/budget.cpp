// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/budget.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

namespace stapgen::base {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

/// Time that this thread had of CPUs.
std::uint64_t thread_time_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * ns_per_s + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

Result<void> Budget::refuse(std::string why, std::string hint) {
    over_ = Error{ErrorKind::bad_input, fmt::format("{}: {}", name_, why), std::move(hint)};
    return tl::make_unexpected(*over_);
}

Result<void> Budget::check_time() {
    if (over_) return tl::make_unexpected(*over_);
    const auto now = thread_time_ns();
    const auto thread = std::this_thread::get_id();
    // The time of the thread that reads, and what it does with what it read: others have inputs of their own.
    if (std::exchange(thread_, thread) == thread) spent_ns_ += now - thread_ns_;
    thread_ns_ = now;
    const auto limit = cpu_ns_.of(read_);
    if (spent_ns_ <= limit) return {};
    return refuse(fmt::format("reading it takes more than {} s of a CPU, for {} bytes", limit / ns_per_s, read_),
                  "it is damaged, or hostile: report a part of it");
}

Result<void> Budget::read(std::uint64_t bytes) {
    read_ += bytes;
    return check_time();
}

Result<void> Budget::unpack(std::uint64_t bytes) {
    made_ += bytes;
    const auto limit = unpacked_.of(read_);
    if (!over_ && made_ > limit) {
        return refuse(fmt::format("its first {} bytes unpack to more than {}: over {} times as much", read_, limit,
                                  unpacked_.for_each),
                      "measurements do not compress that well; if this is one, unpack it yourself and give the result");
    }
    return check_time();
}

Result<void> Budget::add_member() {
    if (!over_ && ++members_ > limits::members)
        return refuse(fmt::format("more than {} files", limits::members), "name a folder in it");
    return check_time();
}

}  // namespace stapgen::base
