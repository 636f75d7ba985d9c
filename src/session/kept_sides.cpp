// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/kept_sides.h"

#include <algorithm>

#include "base/saturate.h"
#include "study/at_moment.h"
#include "when/condition.h"

namespace stapgen::session {

namespace {

/// Where a condition has no window, and between the two.
constexpr std::int64_t default_window_ns = 1'000'000'000;

std::int64_t window_of(const recording::Kept& kept) {
    const auto condition = when::parse_condition(kept.condition);
    return condition ? condition->window.count() : default_window_ns;
}

std::unique_ptr<Session> session_of(Selection times, const Presentation& presentation, std::int64_t resolution_ns) {
    return std::make_unique<Session>(presentation,
                                     SessionOptions{.resolution_ns = resolution_ns, .selection = std::move(times)});
}

}  // namespace

std::unique_ptr<KeptSides> KeptSides::create(const recording::Kept& kept, const Presentation& presentation,
                                             std::int64_t resolution_ns) {
    if (kept.condition.empty()) return nullptr;
    return std::unique_ptr<KeptSides>(new KeptSides(kept, presentation, resolution_ns));
}

KeptSides::KeptSides(const recording::Kept& kept, const Presentation& presentation, std::int64_t resolution_ns)
    : presentation_(presentation),
      before_ns_(window_of(kept)),
      after_ns_(std::clamp<std::int64_t>(kept.after_ns, 0, before_ns_)) {
    presentation_.by.emplace();
    presentation_.explains = true;
    presentation_.slowest = 0;
    const auto begin = base::saturating_subtract(kept.at_epoch_ns, before_ns_);
    before_ =
        session_of({.until = Epoch{base::saturating_subtract(begin, default_window_ns)}}, presentation_, resolution_ns);
    at_ = session_of({.since = Epoch{begin}, .until = Epoch{base::saturating_add(kept.at_epoch_ns, after_ns_)}},
                     presentation_, resolution_ns);
}

void KeptSides::add(const decode::Line& line) {
    before_->add(line);
    at_->add(line);
}

void KeptSides::add(const decode::Record& record) {
    before_->add(record);
    at_->add(record);
}

void KeptSides::compare(rows::Kept& kept) const {
    kept.moment_before_ns = before_ns_;
    kept.moment_after_ns = after_ns_;
    if (before_->analyzer() && at_->analyzer()) study::compare_moment(before_->measured(), at_->measured(), kept);
}

}  // namespace stapgen::session
