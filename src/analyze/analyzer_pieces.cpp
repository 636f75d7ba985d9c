// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <memory>
#include <utility>

#include "analyze/analyzer_state.h"
#include "base/saturate.h"

namespace stapgen::analyze {

void Analyzer::State::join(const State& piece) {
    if (!piece.plans.empty()) plan_for(header->schemas[piece.plans.size() - 1]);
    total += piece.total;
    for (const auto& breakdown : piece.so_far.breakdowns) {
        const auto known =
            std::ranges::find_if(so_far.breakdowns, [&](const Breakdown& of) { return of.is_like(breakdown); });
        if (known != so_far.breakdowns.end()) {
            *known += breakdown;
        } else {
            so_far.breakdowns.push_back(breakdown);
        }
    }
    so_far.series.join(piece.so_far.series);
    join_calls(so_far, piece.so_far);
    std::vector<std::size_t> kinds(piece.log.kinds());
    drops.join(piece.drops, kinds);
    tallies.join(piece.tallies, kinds);
    stacks.join(piece.stacks, kinds);
    log.join(piece.log, kinds, interval_start);

    if (piece.script_counts) {
        script = piece.script;
        script_counts = true;
        received_at_counts = base::saturating_add(received, piece.received_at_counts);
    }
    base::add_saturating(received, piece.received);
    const bool is_closed = !piece.log.intervals().empty();
    if (is_closed) {
        interval_start = piece.interval_start;
        before = accounting();
    }
    records_in_interval = piece.records_in_interval + (is_closed ? 0 : records_in_interval);
    last_record_ns = std::max(last_record_ns, piece.last_record_ns);
    if (piece.last_epoch_ns) last_epoch_ns = piece.last_epoch_ns;
}

Analyzer Analyzer::fork(const decode::Header& header) const {
    auto piece = std::make_unique<State>(header, state_->options, true);
    piece->plans = state_->plans;
    for (auto& plan : piece->plans)
        plan.breakdowns.clear();
    piece->measures = state_->measures;
    piece->total = state_->total.fork();
    piece->so_far.series = state_->so_far.series.fork();
    return Analyzer(std::move(piece));
}

bool Analyzer::fits(const Analyzer& piece) const {
    const State &state = *state_, &other = *piece.state_;
    std::size_t more_stages = 0;
    for (const auto& of : other.so_far.breakdowns) {
        const auto is_same = [&](const Breakdown& known) { return known.is_like(of); };
        if (std::ranges::none_of(state.so_far.breakdowns, is_same)) more_stages += of.stages().size();
    }
    return !State::are_full(state.so_far.breakdowns, more_stages) && state.total.fits(other.total) &&
           state.so_far.series.fits(other.so_far.series) && state.drops.fits(other.drops) &&
           state.tallies.fits(other.tallies) && state.stacks.fits(other.stacks);
}

void Analyzer::join(const Analyzer& piece) {
    state_->join(*piece.state_);
}

}  // namespace stapgen::analyze
