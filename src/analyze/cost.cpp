#include "analyze/cost.h"

#include <algorithm>

#include "base/saturate.h"

namespace stapgen::analyze {

namespace {

/// More than any script has: what an input may make us keep.
constexpr std::size_t max_probes = 4096;

std::int64_t sum_of(const std::vector<ProbeCost>& probes, std::int64_t ProbeCost::*figure) {
    std::int64_t sum = 0;
    for (const auto& probe : probes)
        base::add_saturating(sum, probe.*figure);
    return sum;
}

}  // namespace

void Cost::add(const decode::ProbeTimes& times) {
    if (times.point.empty()) return;
    add_row({std::string(times.point), times.hits, base::saturating_multiply(times.hits, times.mean_cycles),
             times.max_cycles});
}

void Cost::add_row(const ProbeCost& probe) {
    const auto found = std::ranges::find(probes, probe.point, &ProbeCost::point);
    if (found == probes.end()) {
        if (probes.size() < max_probes) probes.push_back(probe);
        return;
    }
    base::add_saturating(found->hits, probe.hits);
    base::add_saturating(found->cycles, probe.cycles);
    found->max_cycles = std::max(found->max_cycles, probe.max_cycles);
}

Cost& Cost::operator+=(const Cost& other) {
    const bool both = !probes.empty() && !other.probes.empty();
    const auto faster = std::max(cycles_per_s, other.cycles_per_s);
    // Each run has measured it; cycles of two machines are no sum of anything that has a time.
    const bool is_like = !both || faster - std::min(cycles_per_s, other.cycles_per_s) < faster / 100;
    cycles_per_s = is_like ? faster : 0;
    cpus = std::max(cpus, other.cpus);
    base::add_saturating(measured_ns, other.measured_ns);
    if (both && !(expected_hits && other.expected_hits)) {
        expected_hits.reset();
    } else if (other.expected_hits) {
        expected_hits = base::saturating_add(expected_hits.value_or(0), *other.expected_hits);
    }
    for (const auto& probe : other.probes)
        add_row(probe);
    return *this;
}

std::int64_t Cost::hits() const {
    return sum_of(probes, &ProbeCost::hits);
}

std::int64_t Cost::cycles() const {
    return sum_of(probes, &ProbeCost::cycles);
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

}  // namespace stapgen::analyze
