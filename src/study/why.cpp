// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/why.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "analyze/results.h"
#include "base/text.h"
#include "kinds/latency/waits.h"
#include "schema/bins.h"
#include "study/whom.h"
#include "study/whose.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

using kinds::latency::wait_of;
using rows::Results;

constexpr double matters = 0.05, is_said = 0.01;
constexpr double tail_percent = 99;

/// Those that are of all packets, but for "total".
std::vector<rows::Stage> seen_stages(const Results& results) {
    std::vector<rows::Stage> stages;
    for (const auto& row : results.of<rows::Stage>())
        if (row.stage != "total" && row.distribution->n() > 0 && row.group.empty()) stages.push_back(row);
    return stages;
}

double sum_of_parts(const std::vector<rows::Stage>& rows, std::string_view stage) {
    double sum = 0;
    for (const auto& row : rows)
        sum += row.part_of == stage ? row.distribution->sum() : 0;
    return sum;
}

bool is_divided(const std::vector<rows::Stage>& rows, std::string_view stage) {
    return std::ranges::any_of(rows, [&](const rows::Stage& row) { return row.part_of == stage; });
}

double part_of(double part, double all) {
    return all > 0 ? part / all : 0;
}

std::vector<WhyWay> ways_of(const Results& results) {
    std::vector<WhyWay> ways;
    for (const auto& row : results.of<rows::Way>()) {
        WhyWay way;
        way.name = row.way;
        way.n = row.n;
        for (const auto& tail : results.of<rows::Tail>()) {
            if (tail.number != row.number) continue;
            way.n_slow = tail.n_slow.value_or(0);
            way.threshold_ns = tail.threshold_ns;
        }
        ways.push_back(std::move(way));
    }
    return ways;
}

/// By a direction's number: what its slowest packets took longer than the others, in ns of all of them together.
std::map<std::int64_t, double> excess_by_way(const Results& results) {
    std::map<std::int64_t, double> excess;
    for (const auto& tail : results.of<rows::Tail>()) {
        const auto each = tail.slow_mean_ns.value_or(0) - tail.rest_mean_ns.value_or(0);
        excess[tail.number] = std::max(0.0, each * static_cast<double>(tail.n_slow.value_or(0)));
    }
    return excess;
}

/// Its part of the excess of all directions together; nothing where there is none.
std::optional<double> excess_of(const Results& results, std::string_view name) {
    const auto by_way = excess_by_way(results);
    double all = 0, own = 0;
    for (const auto& [way, ns] : by_way)
        all += ns;
    if (all <= 0) return std::nullopt;
    for (const auto& tail : results.of<rows::Tail>()) {
        for (const auto& stage : tail.stages)
            if (stage.stage == name) own += stage.excess_share * by_way.at(tail.number);
    }
    return own / all;
}

/// How much a part matters: its share of the time, or half of that of the tail, which is of 1 % of the packets.
double weight_of(const WhyPart& part) {
    return std::max(part.share, part.excess.value_or(0) / 2);
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
    std::vector<WhyPart> parts;
    for (const auto& row : rows) {
        if (!row.part_of && is_divided(rows, row.stage)) continue;
        const auto& stats = *row.distribution;
        parts.push_back({row.stage, stats.n(), above_mean(stats), part_of(stats.sum(), all), *stats.mean(),
                         stats.percentile(50), stats.percentile(99), excess_of(results, row.stage)});
    }
    std::ranges::stable_sort(parts, std::greater{}, &WhyPart::share);
    return parts;
}

std::string way_word(std::string_view way) {
    return way == "rx" ? "received" : way == "tx" ? "sent" : base::printable(way);
}

/// "1,009 of 1,013 packets sent by redis-server[233]".
std::string packets_of(const Results& results, const WhyPart& part) {
    std::int64_t all = 0;
    const auto ways = ways_with(results, part.name);
    for (const auto& way : ways)
        all += way.n;
    const auto word = ways.size() == 1 ? way_word(ways.front().name) : "";
    auto text = fmt::format("{} of {} packet{}{}{}", base::with_commas(part.n), base::with_commas(all),
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

rows::CauseOfWait cause_of(const Results& results, const WhyPart& part, const kinds::latency::Wait& wait) {
    const auto whom = whom_of(results, part.name);
    auto remedy = whom ? remedy_of(wait, whom->waited, whom->by) : std::string(wait.remedy);
    // "for a CPU (median 40 us): the reading thread ..."
    const auto colon = std::min(wait.what.find(':'), wait.what.size());
    return {part.name,
            fmt::format("{} waited {} ({}){}{}{}", packets_of(results, part), wait.what.substr(0, colon),
                        typical_time(part), wait.what.substr(colon), whom ? whom_sentence(*whom) : "",
                        whose_slowest(results, part.name)),
            std::string(wait.known), std::move(remedy)};
}

std::vector<rows::CauseOfWait> causes_of(const Results& results, const std::vector<WhyPart>& parts) {
    std::vector<const WhyPart*> order;
    for (const auto& part : parts)
        if (std::max(part.share, part.excess.value_or(0)) >= matters) order.push_back(&part);
    std::ranges::stable_sort(order, std::greater{}, [](const WhyPart* part) { return weight_of(*part); });
    std::vector<rows::CauseOfWait> causes;
    for (const auto* part : order) {
        const auto* wait = wait_of(part->name);
        if (wait == nullptr || kinds::latency::is_undivided(part->name)) continue;
        causes.push_back(cause_of(results, *part, *wait));
    }
    return causes;
}

/// Whether recipes of today divide it.
bool has_known_parts(std::string_view stage) {
    return std::ranges::any_of(kinds::latency::known_waits(), [&](const kinds::latency::Wait& wait) {
        const auto stages = base::words(wait.stages);
        return !wait.cause.empty() && std::ranges::find(stages, stage) != stages.end();
    });
}

void add_division_caveats(const std::vector<rows::Stage>& rows, std::vector<std::string>& caveats) {
    const bool has_parts = std::ranges::any_of(rows, [](const rows::Stage& row) { return row.part_of.has_value(); });
    if (!has_parts) {
        if (std::ranges::any_of(rows, [](const rows::Stage& row) { return has_known_parts(row.stage); }))
            caveats.emplace_back("stages are not divided: rx-, tx- and net-latency do that, without --no-parts");
        return;
    }
    for (const auto& row : rows) {
        if (row.part_of || !has_known_parts(row.stage)) continue;
        double known = sum_of_parts(rows, row.stage);
        for (const auto& part : rows) {
            const bool is_unknown = part.part_of == row.stage && kinds::latency::is_undivided(part.stage);
            known -= is_unknown ? part.distribution->sum() : 0;
        }
        const auto unknown = 1 - part_of(known, row.distribution->sum());
        if (unknown > is_said)
            caveats.push_back(fmt::format("{} of {} is undivided", table::percent(unknown), row.stage));
    }
}

/// The slow packets' time without a known cause.
void add_tail_caveat(const std::vector<WhyPart>& parts, std::vector<std::string>& caveats) {
    double unknown = 0;
    for (const auto& part : parts)
        if (kinds::latency::is_undivided(part.name)) unknown += part.excess.value_or(0);
    if (unknown > is_said)
        caveats.push_back(fmt::format("{} of the slow packets' extra time is undivided", table::percent(unknown)));
}

void add_account_caveats(const Results& results, std::vector<std::string>& caveats) {
    const auto& account = results.one<rows::Accounting>();
    const auto seen = static_cast<double>(account.seen);
    const auto add = [&](std::int64_t count, std::string_view what) {
        const auto part = part_of(static_cast<double>(count), seen);
        if (part > is_said) caveats.push_back(fmt::format("{} {}", table::percent(part), what));
    };
    add(account.lost, "of the packets seen were lost");
    const auto skipped = account.transport.skipped_probes;
    if (part_of(static_cast<double>(skipped), seen) > is_said) {
        caveats.push_back(fmt::format("{} probes were skipped, for {} packets seen", base::with_commas(skipped),
                                      base::with_commas(static_cast<std::int64_t>(seen))));
    }
    std::vector<std::string> names;
    for (const auto& [name, count] : account.incomplete_by)
        if (part_of(static_cast<double>(count), seen) > is_said) names.push_back(base::printable(name));
    add(account.incomplete,
        names.empty() ? "could not be followed" : fmt::format("could not be followed ({})", fmt::join(names, ", ")));
    if (const auto one_in = results.one<rows::Sample>().one_in; one_in > 1)
        caveats.push_back(fmt::format("a sample of 1 in {} sockets", one_in));
    if (const auto& broke_off = results.one<rows::Run>().broke_off)
        caveats.push_back("the run broke off: " + base::printable(*broke_off));
}

/// What app-tcp does not contain.
void add_call_caveats(const Results& results, std::vector<std::string>& caveats) {
    const auto n = analyze::counted_beside(results, "send-eagain");
    if (n == 0) return;
    caveats.push_back(
        fmt::format("{} send call{} found no room (EAGAIN): the program's wait until the next one is not in app-tcp",
                    base::with_commas(n), n == 1 ? "" : "s"));
}

void add_few_caveats(std::vector<WhyWay> ways, std::vector<std::string>& caveats) {
    const auto needed = table::values_needed(tail_percent);
    std::erase_if(ways, [&](const WhyWay& way) { return way.n == 0 || way.n >= needed; });
    if (ways.empty()) return;
    caveats.push_back(fmt::format("{} {} too few for a tail: {} are needed", packets_text(ways),
                                  ways.size() == 1 && ways.front().n == 1 ? "is" : "are", needed));
}

/// What to check where nothing was measured.
std::string nothing_text(const Results& results) {
    const auto seen = results.one<rows::Accounting>().seen, filtered = results.one<rows::Accounting>().filtered;
    if (seen == 0) {
        return "No packet was measured: there was no TCP or UDP data. Check that there is traffic (nstat, ss -ti), and "
               "whether it is one of the followed kinds (stapgen help account).";
    }
    const auto account = results.sentences.account.empty() ? std::string() : results.sentences.account.front();
    if (filtered > seen / 2) {
        const bool by_name = account.find("--comm ") != std::string::npos;
        return fmt::format("No packet was measured: {} that were seen were filtered. Check the filters{}; {}.",
                           filtered == seen ? "all" : "most",
                           by_name ? " (--comm takes names of threads, and a program's threads can have names of their "
                                     "own: ps -T -p PID)"
                                   : "",
                           account);
    }
    return fmt::format("No packet was measured to its end. {}; stapgen help account says what these are.", account);
}

}  // namespace

Why why_of(const Results& results) {
    Why why;
    why.recipe = results.one<rows::Report>().recipe;
    why.span = results.sentences.span;
    why.ways = ways_of(results);
    const auto rows = seen_stages(results);
    if (rows.empty()) {
        why.nothing = nothing_text(results);
        return why;
    }
    why.parts = parts_of(results, rows);
    why.causes = causes_of(results, why.parts);
    const auto is_of_reader = [](const rows::CauseOfWait& cause) {
        return cause.part.find("-app") != std::string::npos;
    };
    if (std::ranges::any_of(why.causes, is_of_reader)) why.reads = results.sentences.reads;
    add_call_caveats(results, why.caveats);
    add_division_caveats(rows, why.caveats);
    add_tail_caveat(why.parts, why.caveats);
    add_few_caveats(why.ways, why.caveats);
    add_account_caveats(results, why.caveats);
    return why;
}

std::vector<rows::CauseOfWait> causes_of(const Results& results) {
    const auto rows = seen_stages(results);
    return rows.empty() ? std::vector<rows::CauseOfWait>() : causes_of(results, parts_of(results, rows));
}

std::string packets_text(const std::vector<WhyWay>& ways) {
    std::string text;
    for (const auto& way : ways) {
        if (way.n == 0) continue;
        const auto word = way_word(way.name);
        text += fmt::format("{}{}{}{}{}", text.empty() ? "" : ", ", base::with_commas(way.n),
                            !text.empty() ? ""
                            : way.n == 1  ? " packet"
                                          : " packets",
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
