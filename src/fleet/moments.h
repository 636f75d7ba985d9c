// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "session/plan.h"
#include "session/remote.h"

namespace stapgen::fleet {

/// A moment at which all hosts that measured were to keep the seconds before.
struct Moment {
    std::string host;        ///< on which a condition held; empty: the user asked
    std::size_t number = 0;  ///< of the condition, as of session::HeldCondition
    std::string text;        ///< for a person: "web1: tcp-app p99 > 5ms over 1s (8.12 ms)"
    std::string folder;      ///< the name of that of its recordings: "kept-1-20261129T031207Z"
};

/// Decides at which moments the hosts of a run keep the seconds before, for the threads that measure. A host only says
/// a number of what the user typed; one that says it all the time gets no more than the others together.
class Moments {
  public:
    using Clock = std::chrono::steady_clock;
    /// Both must outlive it.
    Moments(const std::vector<std::string>& hosts, const session::KeepPlan& keep) : hosts_(hosts), keep_(keep) {}

    /// A host says that a condition holds.
    void held(std::size_t host, const session::HeldCondition& held, Clock::time_point now);
    /// The user asks.
    void asked(Clock::time_point now);
    /// Lines for a host that knows of the first `known` moments; of all then.
    std::string orders_for(std::size_t host, std::size_t& known) const;
    /// How many bytes a host has sent since the first one.
    void sent(std::uint64_t bytes);

    [[nodiscard]] std::size_t count() const;
    [[nodiscard]] std::vector<Moment> all() const;
    /// How often a condition held, and no moment was made of it.
    [[nodiscard]] std::int64_t unkept() const;

  private:
    void add(std::string host, std::size_t number, std::string text, Clock::time_point now);

    const std::vector<std::string>& hosts_;
    const session::KeepPlan& keep_;
    mutable std::mutex mutex_;
    std::vector<Moment> moments_;
    Clock::time_point last_;
    std::uint64_t most_sent_ = 0;  ///< by one host
    std::int64_t unkept_ = 0;
};

}  // namespace stapgen::fleet
