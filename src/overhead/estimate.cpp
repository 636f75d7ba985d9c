#include "overhead/estimate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "base/units.h"

namespace stapgen::overhead {

namespace {

/// Assumed: two instructions in a ns, as of a CPU of 3 GHz whose pipeline is full for two thirds. What a handler runs
/// is kernel code with locks and few loops, and no test of ours ran on real hardware.
constexpr double ns_per_instruction = 0.5;

std::filesystem::path hit_cost_file(const std::string& recipe, bool aggregates) {
    // No recipe's name has a point.
    return base::cache_directory() / "hit-costs" / (recipe + (aggregates ? ".aggregated" : ""));
}

}  // namespace

HitCost hit_cost_of(const recipe::Recipe& recipe, bool aggregates, const std::string& release) {
    if (!recipe.cost) return {};
    const auto& cost = *recipe.cost;
    const auto handling = static_cast<double>(cost.instructions);
    const auto printing = aggregates ? 0.0 : static_cast<double>(cost.printing);
    // What is not in the sample is not printed.
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
                       const analyze::Cost& cost) {
    // Of fewer hits the first ones, with cold caches, are too large a part.
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

double expected_hits(const recipe::Cost& cost, const host::EventCounters& before, const host::EventCounters& after) {
    double hits = 0;
    for (const auto& [counter, per_event] : cost.hits)
        hits += per_event * host::events_between(before, after, counter);
    return hits;
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

std::string sentence_of(const ExpectedCost& expected) {
    const auto each = base::format_duration(std::chrono::nanoseconds(std::llround(expected.hit.ns)));
    return fmt::format("{} hits/s at the traffic of now, {} of all CPUs, {} of the busiest ({} each, {})",
                       base::with_commas(std::llround(expected.hits_per_s)), percent(expected.of_all_cpus()),
                       percent(expected.of_busiest()), each,
                       expected.hit.measured ? "as --cost measured here" : "assumed: --cost measures it");
}

}  // namespace stapgen::overhead
