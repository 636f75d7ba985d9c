// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "base/text.h"
#include "kinds/latency/waits.h"
#include "schema/bins.h"
#include "schema/schema.h"
#include "study/caveats.h"
#include "study/sleeps.h"
#include "study/whom.h"
#include "study/whose.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

using kinds::latency::wait_of;
using rows::Results;

constexpr double matters = 0.05, half = 0.5;

/// Those that are of all packets, but for "total".
std::vector<rows::Stage> seen_stages(const Results& results) {
    std::vector<rows::Stage> stages;
    for (const auto& row : results.of<rows::Stage>())
        if (row.stage != "total" && row.distribution->n() > 0 && row.group.empty()) stages.push_back(row);
    return stages;
}

bool is_divided(const std::vector<rows::Stage>& rows, std::string_view stage) {
    return std::ranges::any_of(rows, [&](const rows::Stage& row) { return row.part_of == stage; });
}

/// By a direction's number: what its slow packets took longer than the others, in ns of all of them together.
std::map<std::int64_t, double> excess_by_way(const Results& results) {
    std::map<std::int64_t, double> excess;
    for (const auto& tail : results.of<rows::Tail>()) {
        const auto each = tail.slow_mean_ns.value_or(0) - tail.rest_mean_ns.value_or(0);
        excess[tail.number] = std::max(0.0, each * static_cast<double>(tail.n_slow.value_or(0)));
    }
    return excess;
}

std::vector<WhyWay> ways_of(const Results& results) {
    const auto excess = excess_by_way(results);
    double all = 0;
    for (const auto& [number, ns] : excess)
        all += ns;
    std::vector<WhyWay> ways;
    for (const auto& row : results.of<rows::Way>()) {
        WhyWay way;
        way.name = row.way;
        way.n = row.n;
        for (const auto& tail : results.of<rows::Tail>()) {
            if (tail.number != row.number) continue;
            way.n_slow = tail.n_slow.value_or(0);
            way.threshold_ns = tail.threshold_ns;
            if (all > 0) way.excess = excess.at(tail.number) / all;
        }
        ways.push_back(std::move(way));
    }
    return ways;
}

/// A stage's or part's time in the excess, and the excess of the directions that have it, and of all.
struct Excess {
    double own = 0, of_ways = 0, all = 0;
};
Excess excess_of(const Results& results, const std::map<std::int64_t, double>& by_way, std::string_view name) {
    Excess excess;
    for (const auto& tail : results.of<rows::Tail>()) {
        excess.all += by_way.at(tail.number);
        for (const auto& stage : tail.stages) {
            const bool has_it = stage.excess_share != 0 || stage.slow_mean_ns + stage.rest_mean_ns > 0;
            if (stage.stage != name || !has_it) continue;
            excess.own += stage.excess_share * by_way.at(tail.number);
            excess.of_ways += by_way.at(tail.number);
        }
    }
    return excess;
}

/// How much a part matters: its share of the time, or half of that of the tail, which is of 1 % of the packets.
double weight_of(const WhyPart& part) {
    return std::max(part.share, part.excess_of_all / 2);
}

/// How many of them are above their mean, within a bin.
std::int64_t above_mean(const table::Histogram& stats) {
    std::int64_t n = stats.above();
    const auto bin =
        schema::bins::index_of(std::min(static_cast<std::int64_t>(stats.mean().value_or(0)), schema::bins::largest));
    stats.for_each_bin([&](int of, std::int64_t count) { n += of > bin ? count : 0; });
    return n;
}

std::vector<WhyPart> parts_of(const Results& results, const std::vector<rows::Stage>& rows) {
    double all = 0;
    for (const auto& row : rows)
        all += row.part_of ? 0 : row.distribution->sum();
    const auto by_way = excess_by_way(results);
    std::vector<WhyPart> parts;
    for (const auto& row : rows) {
        if (!row.part_of && is_divided(rows, row.stage)) continue;
        const auto& stats = *row.distribution;
        auto& part = parts.emplace_back(WhyPart{row.stage, stats.n(), above_mean(stats), part_of(stats.sum(), all),
                                                *stats.mean(), stats.percentile(50), stats.percentile(99)});
        const auto excess = excess_of(results, by_way, row.stage);
        if (excess.of_ways > 0) part.excess = excess.own / excess.of_ways;
        part.excess_of_all = part_of(excess.own, excess.all);
        part.has_tail = part_of(excess.of_ways, excess.all) >= matters;
    }
    std::ranges::stable_sort(parts, std::greater{}, &WhyPart::share);
    return parts;
}

/// What has these stages.
std::string noun_of(const Results& results) {
    for (const auto& row : results.of<rows::Stage>())
        if (const auto* wait = wait_of(row.stage)) return std::string(wait->noun);
    return Why().noun;
}

/// "1,009 of 1,013 packets sent by redis-server[233]".
std::string packets_of(const Results& results, const WhyPart& part, std::string_view noun) {
    std::int64_t all = 0;
    const auto ways = ways_with(results, part.name);
    for (const auto& way : ways)
        all += way.n;
    const auto word = ways.size() == 1 ? way_word(ways.front().name) : "";
    auto text = fmt::format("{} of {} {}{}{}{}", base::with_commas(part.n), base::with_commas(all), noun,
                            all == 1 ? "" : "s", word.empty() ? "" : " ", word);
    const auto whose = whose_packets(results, part.name, part.n);
    if (!whose.empty()) text += fmt::format(" {} {}", word.empty() ? "of" : "by", whose);
    return text;
}

/// The median. Where the mean is far above it, how many waited longer than that; where it is far below it, the mean.
std::string typical_time(const WhyPart& part) {
    const auto mean = table::duration_text(part.mean_ns);
    if (!part.p50_ns) return "mean " + mean;
    const auto median = static_cast<double>(*part.p50_ns);
    const auto text = "median " + table::duration_text(median);
    if (part.mean_ns >= 2 * median)
        return fmt::format("{}; {} longer than {}, the mean", text, base::with_commas(part.n_long), mean);
    return median < 2 * part.mean_ns ? text : fmt::format("{}, mean {}", text, mean);
}

/// Where it is known what the readers waited for, that decides.
std::string remedy_of(const kinds::latency::Wait& wait, std::string_view waited, std::string_view by) {
    if (waited == "throttled")
        return fmt::format("a larger cpu.max of {} (its cpu.stat: nr_throttled), or less work in it", by);
    if (waited == "stopped")
        return "find who sends it SIGSTOP or SIGTSTP, or traces it (TracerPid in /proc/PID/status)";
    if (waited == "frozen") return "find who freezes its cgroup: cgroup.freeze, docker pause, a suspend";
    return std::string(wait.remedy);
}

bool is_cause(const WhyPart& part) {
    return part.share >= matters || (part.has_tail && part.excess.value_or(0) >= matters);
}

/// What a packet waits for, without how that is.
std::string_view short_what(const kinds::latency::Wait& wait) {
    return wait.what.substr(0, wait.what.find(':'));
}

rows::CauseOfWait cause_of(const Results& results, const WhyPart& part, const kinds::latency::Wait& wait) {
    const auto whom = whom_of(results, part.name);
    const auto slept = slept_for(results, part.name);
    auto remedy = whom ? remedy_of(wait, whom->waited, whom->by) : slept ? remedy_of(*slept) : "";
    if (remedy.empty()) remedy = wait.remedy;
    const auto asked = part.name == "app.server" ? asked_sentence(results) : "";
    const auto one = stand_out_of(results, part.name);
    // "for a CPU (median 40 us): the reading thread ..."
    const auto what = short_what(wait);
    rows::CauseOfWait cause{part.name,
                            fmt::format("{} waited {} ({}){}{}{}{}{}{}", packets_of(results, part, wait.noun), what,
                                        typical_time(part), wait.what.substr(what.size()),
                                        whom ? whom_sentence(*whom) : "", slept ? sleep_sentence(*slept) : "", asked,
                                        one ? one->sentence : "", whose_slowest(results, part.name)),
                            std::string(wait.known), std::move(remedy)};
    if (one) {
        cause.group = one->group;
        cause.who_share = one->share;
        cause.who_packets_share = one->packets_share;
    }
    return cause;
}

std::vector<rows::CauseOfWait> causes_of(const Results& results, const std::vector<WhyPart>& parts) {
    std::vector<const WhyPart*> order;
    for (const auto& part : parts)
        if (is_cause(part)) order.push_back(&part);
    std::ranges::stable_sort(order, std::greater{}, [](const WhyPart* part) { return weight_of(*part); });
    std::vector<rows::CauseOfWait> causes;
    for (const auto* part : order) {
        const auto* wait = wait_of(part->name);
        if (wait == nullptr || kinds::latency::is_undivided(part->name)) continue;
        causes.push_back(cause_of(results, *part, *wait));
    }
    return causes;
}

/// Where other parts are shorter of slow packets it is more than all.
std::string all_percent(double part) {
    return fmt::format("{} %", std::min(table::whole_percent(part), 100L));
}

/// "waited for a CPU".
std::string wait_text(const WhyPart& part) {
    const auto* wait = wait_of(part.name);
    return "waited " + (wait == nullptr ? "in " + base::printable(part.name) : std::string(short_what(*wait)));
}

/// Whether less than a tenth of the packets waited there, or most of those for less than half of the mean and less than
/// a tenth for longer than that.
bool is_of_few(const Results& results, const WhyPart& part) {
    std::int64_t n = 0;
    for (const auto& way : ways_with(results, part.name))
        n += way.n;
    const auto few = static_cast<double>(n) / 10;
    const bool differ = part.p50_ns && 2 * static_cast<double>(*part.p50_ns) < part.mean_ns;
    return static_cast<double>(part.n) < few || (differ && static_cast<double>(part.n_long) < few);
}

/// What has half of the time of all packets, and what has half of the extra time of the slow ones, of the direction
/// that has most of that; else the largest.
std::string answer_of(const Results& results, const std::vector<WhyPart>& parts) {
    const auto& most = *std::ranges::max_element(parts, {}, &WhyPart::share);
    const auto& slow = *std::ranges::max_element(parts, {}, &WhyPart::excess_of_all);
    const bool has_tail = slow.excess_of_all > 0, stands_out = most.share >= half,
               slow_stands_out = has_tail && *slow.excess >= half;
    const auto ways = ways_with(results, slow.name);
    const auto word = ways.size() == 1 ? way_word(ways.front().name) : "";
    const auto noun = noun_of(results);
    std::int64_t n_slow = 0, n = 0;
    for (const auto& tail : results.of<rows::Tail>()) {
        if (std::ranges::find(ways, tail.number, &WayOfStage::number) == ways.end()) continue;
        n_slow += tail.n_slow.value_or(0);
        n += tail.n_slow.value_or(0) + tail.n_rest.value_or(0);
    }
    const auto of_all = all_percent(most.share) + " of the time of all";
    // Where many are equal the slow ones are more than 1 %.
    const auto slowest = std::max(std::lround(part_of(static_cast<double>(n_slow), static_cast<double>(n)) * 100), 1L);
    const auto of_slow =
        fmt::format("{} of the extra time of the slowest {} % ({}{}{})", all_percent(slow.excess.value_or(0)), slowest,
                    base::with_commas(n_slow), word.empty() ? "" : " ", word);
    if (!stands_out && slow_stands_out) return fmt::format("A slow {} mostly {}: {}.", noun, wait_text(slow), of_slow);
    // Most of the time need not be that of most of them.
    const auto mostly = is_of_few(results, most)
                            ? fmt::format("Most of the time is that of a few {}s, which {}", noun, wait_text(most))
                            : fmt::format("A {} mostly {}", noun, wait_text(most));
    if (slow_stands_out && &most == &slow) return fmt::format("{}: {}, {}.", mostly, of_all, of_slow);
    if (slow_stands_out) return fmt::format("{}: {}; a slow one {}: {}.", mostly, of_all, wait_text(slow), of_slow);
    const auto largest = has_tail ? fmt::format("{} has {}", base::printable(slow.name), of_slow) : "";
    if (stands_out && !has_tail) return fmt::format("{}: {}.", mostly, of_all);
    if (stands_out) return fmt::format("{}: {}; of slow ones nothing stands out: {}.", mostly, of_all, largest);
    return fmt::format("Nothing stands out: {} has {}{}{}.", base::printable(most.name), of_all,
                       largest.empty() ? "" : "; ", largest);
}

using StageSum = std::pair<std::string, double>;

/// The part, or the undivided stage, that has most of something; and all of it.
std::pair<StageSum, double> largest_of(const std::map<std::string, double>& sums) {
    StageSum largest;
    double all = 0;
    for (const auto& [stage, sum] : sums) {
        if (!schema::is_part(stage)) all += sum;
        const bool has_parts = std::ranges::any_of(sums, [&, &name = stage](const auto& of) {
            return schema::divided_stage(of.first) == name && of.second > 0;
        });
        if (!has_parts && sum > largest.second) largest = {stage, sum};
    }
    return {largest, all};
}

std::vector<WhyGroup> groups_of(const Results& results) {
    struct Sums {
        std::int64_t n = 0, n_slow = 0;
        std::map<std::string, double> time, excess;  // by stage
    };
    std::map<table::Group, Sums> by_group;
    for (const auto& way : results.of<rows::WayOfGroup>()) {
        auto& sums = by_group[way.group];
        sums.n += way.n;
        sums.n_slow += way.n_slow;
        for (const auto& stage : way.stages) {
            sums.time[stage.stage] += stage.sum_ns;
            sums.excess[stage.stage] += stage.excess_ns;
        }
    }
    std::vector<WhyGroup> groups;
    double all = 0;
    for (const auto& [group, sums] : by_group) {
        const auto [cause, time] = largest_of(sums.time);
        const auto [slow_cause, excess] = largest_of(sums.excess);
        all += time;
        auto& row = groups.emplace_back(
            WhyGroup{group, sums.n, sums.n_slow, time, cause.first, part_of(cause.second, time), slow_cause.first, {}});
        if (!slow_cause.first.empty()) row.slow_cause_share = part_of(slow_cause.second, excess);
    }
    for (auto& group : groups)
        group.share = part_of(group.share, all);
    std::ranges::stable_sort(groups, std::greater{}, &WhyGroup::share);
    return groups;
}

}  // namespace

Why why_of(const Results& results) {
    Why why;
    why.recipe = results.one<rows::Report>().recipe;
    why.kept = results.of<rows::Kept>();
    why.kept_lines = results.sentences.kept;
    why.span = results.sentences.span;
    why.ways = ways_of(results);
    why.noun = noun_of(results);
    const auto rows = seen_stages(results);
    if (rows.empty()) {
        why.nothing = nothing_text(results, why.noun);
        return why;
    }
    why.parts = parts_of(results, rows);
    why.groups = groups_of(results);
    why.causes = results.of<rows::CauseOfWait>();
    why.answer = results.sentences.answer;
    const auto is_of_reader = [](const rows::CauseOfWait& cause) {
        return cause.part.find("-app") != std::string::npos;
    };
    if (std::ranges::any_of(why.causes, is_of_reader)) why.reads = results.sentences.reads;
    why.functions = results.sentences.functions;
    why.caveats = caveats_of(results, rows, why);
    for (const auto& proposal : results.of<rows::Proposal>())
        why.proposals.push_back({proposal});
    return why;
}

void explain(Results& results) {
    const auto rows = seen_stages(results);
    // A call is within another: their times do not add up.
    if (rows.empty() || !results.of<rows::Call>().empty()) return;
    const auto parts = parts_of(results, rows);
    results.put(causes_of(results, parts));
    results.sentences.answer = answer_of(results, parts);
}

std::string part_to_watch(const Results& results) {
    const auto rows = seen_stages(results);
    if (rows.empty()) return {};
    const auto parts = parts_of(results, rows);
    const auto& slow = *std::ranges::max_element(parts, {}, &WhyPart::excess_of_all);
    if (slow.excess_of_all > 0 && slow.excess.value_or(0) >= half) return slow.name;
    return std::ranges::max_element(parts, {}, weight_of)->name;
}

double part_of(double part, double all) {
    return all > 0 ? part / all : 0;
}

std::string way_word(std::string_view way) {
    if (way == "client" || way == "server") return fmt::format("at the {}", way);
    return way == "rx" ? "received" : way == "tx" ? "sent" : base::printable(way);
}

std::string packets_text(const std::vector<WhyWay>& ways, std::string_view noun) {
    std::string text;
    for (const auto& way : ways) {
        if (way.n == 0) continue;
        const auto word = way_word(way.name);
        const auto things = text.empty() ? fmt::format(" {}{}", noun, way.n == 1 ? "" : "s") : "";
        text += fmt::format("{}{}{}{}{}", text.empty() ? "" : ", ", base::with_commas(way.n), things,
                            word.empty() ? "" : " ", word);
    }
    return text;
}

std::string tail_text(const std::vector<WhyWay>& ways) {
    std::vector<std::string> texts;
    for (const auto& way : ways) {
        if (way.n_slow == 0) continue;
        const auto word = way_word(way.name);
        texts.push_back(fmt::format("{}{}{} > {}", base::with_commas(way.n_slow), word.empty() ? "" : " ", word,
                                    table::duration_text(*way.threshold_ns)));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace stapgen::study
