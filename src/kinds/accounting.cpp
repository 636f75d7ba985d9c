// SPDX-License-Identifier: GPL-2.0-or-later
#include "kinds/accounting.h"

#include <algorithm>

#include "base/saturate.h"

namespace stapgen::kinds {

void add_cause(std::vector<Cause>& causes, std::string_view name, std::int64_t count) {
    const auto found = std::ranges::find(causes, name, &Cause::name);
    if (found == causes.end()) {
        causes.push_back({std::string(name), count});
    } else {
        base::add_saturating(found->count, count);
    }
}

void add_up(recording::Transport& into, const recording::Transport& more) {
    base::add_saturating(into.skipped_probes, more.skipped_probes);
    base::add_saturating(into.probe_errors, more.probe_errors);
    base::add_saturating(into.transport_failures, more.transport_failures);
    into.enough_buffer_mb = std::max(into.enough_buffer_mb, more.enough_buffer_mb);
    for (const auto& [function, count] : more.skipped_by)
        add_cause(into.skipped_by, function, count);
}

std::int64_t Accounting::unaccounted() const {
    const auto known = base::saturating_add(base::saturating_add(reported, filtered),
                                            base::saturating_add(incomplete_total(), lost_total()));
    return base::saturating_subtract(seen, known);
}

std::int64_t Accounting::below_zero() const {
    const auto found = std::ranges::find(other, decode::below_zero_count, &Cause::name);
    return found == other.end() ? 0 : found->count;
}

namespace {

/// `sign` 1: adds all counts of `more`; -1: subtracts them.
void add_counts(Accounting& into, const Accounting& more, int sign) {
    for (const auto count : {&Accounting::seen, &Accounting::reported, &Accounting::filtered})
        base::add_saturating(into.*count, sign * (more.*count));
    for (const auto causes : {&Accounting::incomplete, &Accounting::lost, &Accounting::other}) {
        for (const auto& cause : more.*causes)
            add_cause(into.*causes, cause.name, sign * cause.count);
    }
}

/// More than any script has: what an input may make us keep.
constexpr std::size_t max_probes = 4096;

}  // namespace

Accounting& Accounting::operator+=(const Accounting& more) {
    add_counts(*this, more, 1);
    // Behind the script's own.
    std::ranges::stable_partition(lost, [](const Cause& cause) { return cause.name != "transport"; });
    closed = closed && more.closed;
    kept = kept && more.kept;
    return *this;
}

Accounting difference(Accounting now, const Accounting& before) {
    add_counts(now, before, -1);
    for (auto& cause : now.incomplete) {
        if (cause.count >= 0) continue;
        now.seen = base::saturating_subtract(now.seen, cause.count);
        cause.count = 0;
    }
    for (auto& cause : now.other)
        cause.count = std::max(cause.count, std::int64_t{0});
    return now;
}

std::optional<Accounting> script_counts(std::span<const decode::Count> counts) {
    Accounting script;
    bool says_seen = false;
    for (const auto& [key, value] : counts) {
        const auto kind = key.substr(0, key.find('.'));
        const auto cause = kind.size() == key.size() ? "unspecified" : key.substr(kind.size() + 1);
        if (key == "seen") {
            says_seen = true;
            script.seen = value;
        } else if (key == "reported") {
            script.reported = value;
        } else if (key == "filtered") {
            script.filtered = value;
        } else if (kind == "incomplete") {
            add_cause(script.incomplete, cause, value);
        } else if (kind == "lost") {
            add_cause(script.lost, cause, value);
        } else {
            add_cause(script.other, key, value);
        }
    }
    return says_seen ? std::optional(std::move(script)) : std::nullopt;
}

void Cost::add(const decode::ProbeTimes& times) {
    if (times.point.empty()) return;
    const bool is_new = std::ranges::find(probes, times.point, &ProbeCost::point) == probes.end();
    if (is_new && probes.size() >= max_probes) return;
    add_row({std::string(times.point), times.hits, base::saturating_multiply(times.hits, times.mean_cycles),
             times.max_cycles});
}

void Cost::add_row(const ProbeCost& probe) {
    const auto found = std::ranges::find(probes, probe.point, &ProbeCost::point);
    if (found == probes.end()) return probes.push_back(probe);
    base::add_saturating(found->hits, probe.hits);
    base::add_saturating(found->cycles, probe.cycles);
    found->max_cycles = std::max(found->max_cycles, probe.max_cycles);
}

Cost& Cost::operator+=(const Cost& other) {
    if (other.probes.empty()) return *this;
    if (probes.empty()) return *this = other;
    const auto slowest = [](const Cost& of) { return of.runs_ > 1 ? of.min_cycles_per_s_ : of.cycles_per_s; };
    const auto fastest = [](const Cost& of) { return of.runs_ > 1 ? of.max_cycles_per_s_ : of.cycles_per_s; };
    min_cycles_per_s_ = std::min(slowest(*this), slowest(other));
    max_cycles_per_s_ = std::max(fastest(*this), fastest(other));
    base::add_saturating(runs_, other.runs_);
    // Each run has measured it; cycles of two machines are no sum of anything that has a time.
    const bool is_like = max_cycles_per_s_ - min_cycles_per_s_ < max_cycles_per_s_ / 100;
    cycles_per_s = is_like ? max_cycles_per_s_ : 0;
    cpus = std::max(cpus, other.cpus);
    base::add_saturating(measured_ns, other.measured_ns);
    expected_hits = expected_hits && other.expected_hits
                        ? std::optional(base::saturating_add(*expected_hits, *other.expected_hits))
                        : std::nullopt;
    for (const auto& probe : other.probes)
        add_row(probe);
    return *this;
}

std::int64_t Cost::hits() const {
    return base::saturating_sum(probes, &ProbeCost::hits);
}

std::int64_t Cost::cycles() const {
    return base::saturating_sum(probes, &ProbeCost::cycles);
}

std::optional<double> Cost::ns(std::int64_t cycles) const {
    if (!(cycles_per_s > 0)) return std::nullopt;
    return static_cast<double>(cycles) / cycles_per_s * 1e9;
}

std::optional<double> Cost::share(std::int64_t cycles) const {
    const auto spent = ns(cycles);
    if (!spent || measured_ns <= 0) return std::nullopt;
    return *spent / static_cast<double>(measured_ns);
}

Sample& Sample::operator+=(const Sample& other) {
    if (one_in != other.one_in) one_in = 0;
    base::add_saturating(estimated, other.estimated);
    return *this;
}

}  // namespace stapgen::kinds
