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
#include "study/whom.h"
#include "study/whose.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

using kinds::latency::wait_of;
using table::Results;

constexpr double matters = 0.05, is_said = 0.01;
constexpr std::size_t most_causes = 3;
constexpr double tail_percent = 99;

std::int64_t fact(const Results& results, std::string_view table, std::string_view column) {
    return table::count_of(results.fact(table, column));
}

/// Rows of the table "stages" that are of all packets.
struct StageRow {
    std::string name;
    const table::Histogram* stats;
    std::string part_of;  ///< empty: it is no part
};

std::vector<StageRow> stage_rows(const Results& results) {
    const auto& stages = results.at("stages");
    std::vector<StageRow> rows;
    for (const auto& row : stages.rows) {
        const auto& name = *table::held<std::string>(stages.at(row, "stage"));
        const auto* stats = table::held<table::Histogram>(stages.at(row, "distribution"));
        if (name == "total" || stats->n() == 0 || !table::held<table::Group>(stages.at(row, "group"))->empty())
            continue;
        rows.push_back({name, stats, table::text_of(stages.at(row, "part_of"))});
    }
    return rows;
}

double sum_of_parts(const std::vector<StageRow>& rows, std::string_view stage) {
    double sum = 0;
    for (const auto& row : rows)
        sum += row.part_of == stage ? row.stats->sum() : 0;
    return sum;
}

bool is_divided(const std::vector<StageRow>& rows, std::string_view stage) {
    return std::ranges::find(rows, stage, &StageRow::part_of) != rows.end();
}

double part_of(double part, double all) {
    return all > 0 ? part / all : 0;
}

std::vector<WhyWay> ways_of(const Results& results) {
    std::vector<WhyWay> ways;
    const auto& table = results.at("ways");
    const auto& tails = results.at("tail");
    for (const auto& row : table.rows) {
        WhyWay way;
        way.name = table::text_of(table.at(row, "way"));
        way.n = table::count_of(table.at(row, "n"));
        for (const auto& tail : tails.rows) {
            if (tail.front() != row.front()) continue;
            way.n_slow = table::count_of(tails.at(tail, "n_slow"));
            way.threshold_ns = table::known<std::int64_t>(tails.at(tail, "threshold_ns"));
        }
        ways.push_back(std::move(way));
    }
    return ways;
}

/// By a direction's number: what its slowest packets took longer than the others, in ns of all of them together.
std::map<std::int64_t, double> excess_by_way(const Results& results) {
    std::map<std::int64_t, double> excess;
    const auto& tails = results.at("tail");
    for (const auto& row : tails.rows) {
        const auto real = [&](std::string_view column) { return table::real_of(tails.at(row, column)); };
        const auto each = real("slow_mean_ns") - real("rest_mean_ns");
        const auto n_slow = table::count_of(tails.at(row, "n_slow"));
        excess[table::count_of(row.front())] = std::max(0.0, each * static_cast<double>(n_slow));
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
    const auto& shares = results.at("tail.stages");
    for (const auto& row : shares.rows) {
        if (*table::held<std::string>(shares.at(row, "stage")) == name)
            own += table::real_of(shares.at(row, "excess_share")) * by_way.at(table::count_of(row.front()));
    }
    return own / all;
}

/// How much a part matters: its share of the time, or half of that of the tail, which is of 1 % of the packets.
double weight_of(const WhyPart& part) {
    return std::max(part.share, part.excess.value_or(0) / 2);
}

std::vector<WhyPart> parts_of(const Results& results, const std::vector<StageRow>& rows) {
    double all = 0;
    for (const auto& row : rows)
        all += row.part_of.empty() ? row.stats->sum() : 0;
    std::vector<WhyPart> parts;
    for (const auto& [name, stats, of] : rows) {
        if (of.empty() && is_divided(rows, name)) continue;
        parts.push_back({name, stats->n(), part_of(stats->sum(), all), *stats->mean(), stats->percentile(50),
                         stats->percentile(99), excess_of(results, name)});
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

/// The median; and the mean, where that is far from it.
std::string typical_time(const WhyPart& part) {
    const auto mean = "mean " + table::duration_text(part.mean_ns);
    if (!part.p50_ns) return mean;
    const auto median = static_cast<double>(*part.p50_ns);
    const bool is_near = part.mean_ns < 2 * median && median < 2 * part.mean_ns;
    return "median " + table::duration_text(median) + (is_near ? "" : ", " + mean);
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

WhyCause cause_of(const Results& results, const WhyPart& part, const kinds::latency::Wait& wait) {
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

std::vector<WhyCause> causes_of(const Results& results, const std::vector<WhyPart>& parts) {
    std::vector<const WhyPart*> order;
    for (const auto& part : parts)
        if (std::max(part.share, part.excess.value_or(0)) >= matters) order.push_back(&part);
    std::ranges::stable_sort(order, std::greater{}, [](const WhyPart* part) { return weight_of(*part); });
    std::vector<WhyCause> causes;
    for (const auto* part : order) {
        const auto* wait = wait_of(part->name);
        if (wait == nullptr || kinds::latency::is_undivided(part->name)) continue;
        if (causes.size() < most_causes) causes.push_back(cause_of(results, *part, *wait));
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

void add_division_caveats(const std::vector<StageRow>& rows, std::vector<std::string>& caveats) {
    const bool has_parts = std::ranges::any_of(rows, [](const StageRow& row) { return !row.part_of.empty(); });
    if (!has_parts) {
        caveats.emplace_back("measured without parts (--no-parts, or an older stapgen): stages only");
        return;
    }
    for (const auto& [name, stats, of] : rows) {
        if (!of.empty() || !has_known_parts(name)) continue;
        double known = sum_of_parts(rows, name);
        for (const auto& part : rows)
            known -= part.part_of == name && kinds::latency::is_undivided(part.name) ? part.stats->sum() : 0;
        const auto unknown = 1 - part_of(known, stats->sum());
        if (unknown > is_said) caveats.push_back(fmt::format("{} of {} is undivided", table::percent(unknown), name));
    }
}

void add_account_caveats(const Results& results, std::vector<std::string>& caveats) {
    const auto seen = static_cast<double>(fact(results, "accounting", "seen"));
    const auto add = [&](std::int64_t count, std::string_view what) {
        const auto part = part_of(static_cast<double>(count), seen);
        if (part > is_said) caveats.push_back(fmt::format("{} {}", table::percent(part), what));
    };
    add(fact(results, "accounting", "lost"), "of the packets seen were lost");
    const auto skipped = fact(results, "accounting.transport", "skipped_probes");
    if (part_of(static_cast<double>(skipped), seen) > is_said) {
        caveats.push_back(fmt::format("{} probes were skipped, for {} packets seen", base::with_commas(skipped),
                                      base::with_commas(static_cast<std::int64_t>(seen))));
    }
    const auto& causes = results.at("accounting.incomplete_by");
    std::vector<std::string> names;
    for (const auto& row : causes.rows) {
        if (part_of(static_cast<double>(table::count_of(row.back())), seen) > is_said)
            names.push_back(base::printable(table::text_of(row.front())));
    }
    add(fact(results, "accounting", "incomplete"),
        names.empty() ? "could not be followed" : fmt::format("could not be followed ({})", fmt::join(names, ", ")));
    if (const auto one_in = fact(results, "sample", "one_in"); one_in > 1)
        caveats.push_back(fmt::format("a sample of 1 in {} sockets", one_in));
    const auto& broke_off = results.fact("run", "broke_off");
    if (table::held<std::string>(broke_off) != nullptr)
        caveats.push_back("the run broke off: " + base::printable(table::text_of(broke_off)));
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
    const auto seen = fact(results, "accounting", "seen"), filtered = fact(results, "accounting", "filtered");
    if (seen == 0) {
        return "No packet was measured: there was no TCP or UDP data. Check that there is traffic (nstat, ss -ti), and "
               "whether it is one of the followed kinds (stapgen help account).";
    }
    const auto account = results.sentence("account");
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
    why.span = results.sentence("span");
    why.ways = ways_of(results);
    const auto rows = stage_rows(results);
    if (rows.empty()) {
        why.nothing = nothing_text(results);
        return why;
    }
    why.parts = parts_of(results, rows);
    why.causes = causes_of(results, why.parts);
    const auto is_of_reader = [](const WhyCause& cause) { return cause.part.find("-app") != std::string::npos; };
    if (std::ranges::any_of(why.causes, is_of_reader)) why.reads = results.sentence("reads");
    add_call_caveats(results, why.caveats);
    add_division_caveats(rows, why.caveats);
    add_few_caveats(why.ways, why.caveats);
    add_account_caveats(results, why.caveats);
    return why;
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
