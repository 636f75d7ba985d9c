// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/totals.h"

#include <algorithm>

#include "base/saturate.h"

namespace stapgen::serve {

using analyze::Cause;

namespace {

/// Those of `now` that are higher.
void raise(std::vector<Cause>& causes, const std::vector<Cause>& now) {
    for (const auto& [name, count] : now) {
        const auto known = std::ranges::find(causes, name, &Cause::name);
        if (known == causes.end()) {
            causes.push_back({name, count});
        } else {
            known->count = std::max(known->count, count);
        }
    }
}

void add_counters(std::vector<recording::Counter>& into, const std::vector<recording::Counter>& more) {
    for (const auto& counter : more) {
        const auto known = std::ranges::find(into, counter.name, &recording::Counter::name);
        if (known == into.end()) {
            into.push_back(counter);
        } else if (counter.count) {
            known->count = base::saturating_add(known->count.value_or(0), *counter.count);
        }
    }
}

Totals::Run sum_of(Totals::Run run, const Totals::Run& more) {
    run.accounting += more.accounting;
    add_counters(run.counters, more.counters);
    run.input.lines += more.input.lines;
    run.input.recognised += more.input.recognised;
    run.input.unrecognised += more.input.unrecognised;
    if (!more.origin.host.empty()) run.origin = more.origin;
    return run;
}

}  // namespace

bool SeriesLimit::admit() {
    auto taken = taken_.load();
    while (taken < most_) {
        if (taken_.compare_exchange_weak(taken, taken + 1)) return true;
    }
    return false;
}

void Totals::keep_out(std::int64_t count) {
    base::add_saturating(kept_out_, count);
}

void Totals::add(const std::vector<analyze::Measure>& measures, std::vector<analyze::Measure>& into) {
    for (const auto& measure : measures) {
        if (!measure.group.empty() || measure.stats.n() == 0) continue;
        const auto known = std::ranges::find(into, measure.name, &analyze::Measure::name);
        if (known != into.end()) {
            known->stats += measure.stats;
        } else if (limit_.admit()) {
            into.push_back(measure);
        } else {
            keep_out(measure.stats.n());
        }
    }
}

void Totals::add(const analyze::Summary& interval) {
    const auto count = [&](auto& into, const auto& key, const auto& row) {
        auto known = into.find(key);
        if (known == into.end()) {
            if (!limit_.admit()) return keep_out(row.count);
            known = into.emplace(key, row).first;
            known->second.interval = known->second.count = 0;
            known->second.end_epoch_ns.reset();
        }
        base::add_saturating(known->second.count, row.count);
    };
    add(interval.stages, stages_);
    add(interval.values, values_);
    for (const auto& drop : interval.drops)
        count(drops_,
              DropKey(drop.place.module.value_or(""), drop.place.symbol.value_or(""), drop.reason.name.value_or("")),
              drop);
    for (const auto& tally : interval.tallies)
        count(tallies_, tally.group, tally);
    counted_ = interval.counted;
    counts_drops_ = counts_drops_ || interval.counts_drops;
}

void Totals::set_run(Run run) {
    run_ = std::move(run);
    auto now = earlier_.accounting;
    now += run_.accounting;
    account_.seen = std::max(account_.seen, now.seen);
    account_.reported = std::max(account_.reported, now.reported);
    account_.filtered = std::max(account_.filtered, now.filtered);
    raise(account_.lost, now.lost);
    raise(account_.other, now.other);
    account_.incomplete = now.incomplete;
}

void Totals::end_run(const recording::Transport& transport) {
    earlier_ = sum_of(std::move(earlier_), run_);
    run_ = {};
    analyze::add_up(transport_, transport);
}

analyze::Summary Totals::summary() const {
    analyze::Summary summary;
    const auto all = sum_of(earlier_, run_);
    summary.recipe = recipe_;
    if (!all.origin.host.empty()) summary.origins = {all.origin};
    summary.stages = stages_;
    summary.values = values_;
    summary.counted = counted_;
    summary.counts_drops = counts_drops_;
    for (const auto& [key, drop] : drops_)
        summary.drops.push_back(drop);
    for (const auto& [group, tally] : tallies_)
        summary.tallies.push_back(tally);
    summary.accounting = account_;
    summary.transport = transport_;
    summary.counters = all.counters;
    summary.input = all.input;
    return summary;
}

}  // namespace stapgen::serve
