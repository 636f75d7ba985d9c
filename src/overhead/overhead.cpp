// SPDX-License-Identifier: GPL-2.0-or-later
#include "overhead/overhead.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "base/units.h"
#include "host/facts.h"

namespace stapgen::overhead {

namespace {

/// Assumed: two instructions in a ns, as of a CPU of 3 GHz whose pipeline is full for two thirds. What a handler runs
/// is kernel code with locks and few loops, and no test of ours ran on real hardware.
constexpr double ns_per_instruction = 0.5;

std::filesystem::path hit_cost_file(const std::string& recipe, bool aggregates) {
    // No recipe's name has a point.
    return base::cache_directory() / "hit-costs" / (recipe + (aggregates ? ".aggregated" : ""));
}

/// Hits of all probes between two readings.
double expected_hits(const recipe::Cost& cost, const host::EventCounters& before, const host::EventCounters& after) {
    double hits = 0;
    for (const auto* of : {&cost.hits, &cost.parts_hits}) {
        for (const auto& [counter, per_event] : *of)
            hits += per_event * host::events_between(before, after, counter);
    }
    return hits;
}

}  // namespace

HitCost hit_cost_of(const recipe::Recipe& recipe, bool aggregates, const std::string& release) {
    if (!recipe.cost) return {};
    const auto& cost = *recipe.cost;
    const auto handling = static_cast<double>(cost.instructions);
    const auto printing = aggregates ? 0.0 : static_cast<double>(cost.printing);
    // Records outside of the sample are not printed.
    const double spared = cost.sampled > 0 ? cost.sampled * handling + printing : 0;
    HitCost hit{(handling + printing) * ns_per_instruction, false, spared / (handling + printing)};
    if (const auto kept = base::read_file(hit_cost_file(recipe.name, aggregates), 4096)) {
        const auto words = base::words(*kept);
        if (words.size() == 2 && words[0] == release) {
            const double ns = std::strtod(std::string(words[1]).c_str(), nullptr);
            if (std::isfinite(ns) && ns > 0) hit = {ns, true, hit.sampled};
        }
    }
    return hit;
}

void remember_hit_cost(const std::string& recipe, bool aggregates, const std::string& release,
                       const kinds::Cost& cost) {
    // The first ones of fewer hits, with cold caches, are too large a part.
    constexpr std::int64_t min_hits = 1000;
    const auto ns = cost.ns(cost.cycles());
    if (!ns || cost.hits() < min_hits) return;
    const auto file = hit_cost_file(recipe, aggregates);
    std::error_code ignored;
    base::make_cache(file.parent_path().parent_path());
    std::filesystem::create_directories(file.parent_path(), ignored);
    // It is an estimate for next time: where it cannot be kept, the next one is made without.
    (void)base::replace_file(file, fmt::format("{} {:.1f}\n", release, *ns / static_cast<double>(cost.hits())));
}

ExpectedCost expected_cost(const recipe::Cost& cost, const HitCost& hit, const host::EventCounters& before,
                           const host::EventCounters& after, std::int64_t cpus) {
    ExpectedCost expected;
    expected.hit = hit;
    expected.seconds = std::chrono::duration<double>(after.at - before.at).count();
    if (!(expected.seconds > 0) || cpus < 1) return expected;
    expected.hits_per_s = expected_hits(cost, before, after) / expected.seconds;
    expected.cpus = cpus;
    expected.busiest_part = host::busiest_part(before, after).value_or(1.0 / static_cast<double>(cpus));
    return expected;
}

std::optional<ExpectedCost> expect_now(const host::System& machine, const recipe::Recipe& recipe, bool aggregates,
                                       std::chrono::milliseconds period) {
    if (!recipe.cost) return std::nullopt;
    const auto before = host::read_event_counters(machine);
    std::this_thread::sleep_for(period);
    const auto after = host::read_event_counters(machine);
    return expected_cost(*recipe.cost, hit_cost_of(recipe, aggregates, machine.running_release()), before, after,
                         ::sysconf(_SC_NPROCESSORS_ONLN));
}

std::string percent(double part) {
    const double value = part * 100;
    return fmt::format("{:.{}f} %", value, value == 0 ? 0 : value < 0.1 ? 3 : value < 10 ? 2 : 0);
}

base::Result<double> parse_budget(std::string_view typed) {
    const auto share = base::parse_percent(typed);
    if (share && *share > 0 && *share <= 0.5) return *share;
    return base::bad_input(fmt::format("--budget {}: not a percentage above 0 and up to 50", base::printable(typed)),
                           "for example --budget 5%: no CPU spends more of its time in the probes");
}

std::vector<std::string> guard_macros(double budget) {
    // The runtime prints them as long long.
    return {fmt::format("STP_OVERLOAD_INTERVAL={}LL", guard_cycles),
            fmt::format("STP_OVERLOAD_THRESHOLD={}LL", std::llround(budget * static_cast<double>(guard_cycles)))};
}

BudgetPlan plan_sample(std::int64_t one_in, const ExpectedCost& expected) {
    const double sampled = expected.hit.sampled;
    return {one_in, expected.of_busiest() * (1 - sampled + sampled / static_cast<double>(one_in))};
}

BudgetPlan plan_budget(double budget, const ExpectedCost& expected) {
    // Beyond it less than a sixteenth of what can be spared at all is won.
    constexpr std::int64_t last = 16;
    const bool can_sample = expected.hit.sampled > 0;
    auto plan = plan_sample(1, expected);
    while (can_sample && plan.of_busiest > budget && plan.one_in < last)
        plan = plan_sample(plan.one_in * 2, expected);
    return plan;
}

std::string sentence_of(const ExpectedCost& expected, const BudgetPlan& plan, std::optional<double> budget) {
    const auto each = base::format_duration(std::chrono::nanoseconds(std::llround(expected.hit.ns)));
    auto text = fmt::format("{} hits/s at the current traffic, {} of all CPUs, {} of the busiest ({} each, {})",
                            base::with_commas(std::llround(expected.hits_per_s)), percent(expected.of_all_cpus()),
                            percent(expected.of_busiest()), each,
                            expected.hit.measured ? "measured here by --cost" : "assumed; --cost measures it");
    if (plan.one_in > 1) {
        text += fmt::format("; with 1 in {} sockets measured, {} of the busiest CPU", plan.one_in,
                            percent(plan.of_busiest));
    }
    if (budget && plan.of_busiest > *budget) {
        text += fmt::format("; that exceeds the budget of {}, which ends the run when it is reached: measure less",
                            percent(*budget));
    }
    return text;
}

CostWatch::Moment CostWatch::moment(const host::System& machine) {
    return {host::read_event_counters(machine), host::read_cycles()};
}

void CostWatch::put_into(kinds::Cost& cost, const std::optional<recipe::Cost>& expected) const {
    if (cost.probes.empty() || !end_) return;
    const std::chrono::duration<double> passed = end_->events.at - begin_->events.at;
    cost.measured_ns = std::llround(passed.count() * 1e9);
    cost.cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
    if (begin_->cycles && passed.count() > 0) {
        cost.cycles_per_s = static_cast<double>(*end_->cycles - *begin_->cycles) / passed.count();
    }
    if (expected) cost.expected_hits = std::llround(expected_hits(*expected, begin_->events, end_->events));
}

}  // namespace stapgen::overhead
