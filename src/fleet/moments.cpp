// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/units.h"
#include "session/keeper.h"
#include "table/texts.h"

namespace stapgen::fleet {

void Moments::held(std::size_t host, const session::HeldCondition& held, Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    if (held.number > keep_.conditions.size()) return;
    const auto& name = hosts_[host];
    if (held.number == 0) return add(name, 0, name + ": SIGUSR1", now);
    const auto& condition = keep_.conditions[held.number - 1];
    add(name, held.number, fmt::format("{}: {} ({})", name, condition.text(), condition.value_text(held.value)), now);
}

void Moments::asked(Clock::time_point now) {
    const std::scoped_lock lock(mutex_);
    add({}, 0, "SIGUSR1", now);
}

/// No host is asked while it still keeps the ones before.
void Moments::add(std::string host, std::size_t number, std::string text, Clock::time_point now) {
    const bool is_too_soon = !moments_.empty() && now - last_ < session::kept_at_most_every + keep_.after;
    const bool is_enough = (keep_.most.files > 0 && moments_.size() >= static_cast<std::size_t>(keep_.most.files)) ||
                           (!moments_.empty() && most_sent_ >= keep_.most.bytes);
    if (is_too_soon || is_enough) {
        ++unkept_;
        return;
    }
    last_ = now;
    moments_.push_back({std::move(host), number, std::move(text),
                        fmt::format("kept-{}-{}", moments_.size() + 1, table::time_for_name(base::now_epoch_ns(), 0))});
}

std::string Moments::orders_for(std::size_t host, std::size_t& known) const {
    const std::scoped_lock lock(mutex_);
    std::string orders;
    for (; known < moments_.size(); ++known) {
        const auto& moment = moments_[known];
        orders += session::order_line(
            {static_cast<std::int64_t>(known) + 1, moment.number, moment.host == hosts_[host] ? "" : moment.host});
    }
    return orders;
}

void Moments::sent(std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    most_sent_ = std::max(most_sent_, bytes);
}

std::size_t Moments::count() const {
    const std::scoped_lock lock(mutex_);
    return moments_.size();
}

std::vector<Moment> Moments::all() const {
    const std::scoped_lock lock(mutex_);
    return moments_;
}

std::int64_t Moments::unkept() const {
    const std::scoped_lock lock(mutex_);
    return unkept_;
}

}  // namespace stapgen::fleet
