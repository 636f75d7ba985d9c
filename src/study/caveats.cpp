// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/caveats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "analyze/results.h"
#include "base/text.h"
#include "kinds/latency/tail.h"
#include "kinds/latency/waits.h"
#include "study/sleeps.h"
#include "study/whose.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

using rows::Results;

constexpr double is_said = 0.01;

double sum_of_parts(const std::vector<rows::Stage>& rows, std::string_view stage) {
    double sum = 0;
    for (const auto& row : rows)
        sum += row.part_of == stage ? row.distribution->sum() : 0;
    return sum;
}

/// "rx-, tx- and net-latency do that", of the stages that recipes of today divide.
std::string who_divides(const std::vector<rows::Stage>& rows) {
    return std::ranges::any_of(rows, [](const rows::Stage& row) { return row.stage == "app"; })
               ? "app is not divided: stapgen why --requests does that, and sock-latency --parts"
               : "stages are not divided: rx-, tx- and net-latency do that, without --no-parts";
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
            caveats.push_back(who_divides(rows));
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

/// Of requests, what is too little for a sentence of its own.
void add_handed_over_caveat(const std::vector<rows::Stage>& rows, const Why& why, std::vector<std::string>& caveats) {
    constexpr std::string_view part = "app.handed-over";
    const auto handed_over = std::ranges::find(rows, part, &rows::Stage::stage);
    const auto app = std::ranges::find(rows, "app", &rows::Stage::stage);
    const bool has_sentence = std::ranges::find(why.causes, part, &rows::CauseOfWait::part) != why.causes.end();
    if (handed_over == rows.end() || app == rows.end() || has_sentence) return;
    const auto share = part_of(handed_over->distribution->sum(), app->distribution->sum());
    if (share > is_said)
        caveats.push_back(fmt::format("{} of app is handed over to other threads", table::percent(share)));
}

/// The slow packets' time without a known cause.
void add_tail_caveats(const Results& results, const Why& why, std::vector<std::string>& caveats) {
    std::map<std::string, double> unknown;
    for (const auto& part : why.parts) {
        if (!part.has_tail || !kinds::latency::is_undivided(part.name)) continue;
        const auto ways = ways_with(results, part.name);
        const auto word = ways.size() == 1 ? way_word(ways.front().name) : "";
        unknown[word.empty() ? "" : word + ' '] += part.excess.value_or(0);
    }
    for (const auto& [word, share] : unknown)
        if (share > is_said)
            caveats.push_back(
                fmt::format("{} of the slow {}{}s' extra time is undivided", table::percent(share), word, why.noun));
}

void add_account_caveats(const Results& results, std::string_view noun, std::vector<std::string>& caveats) {
    const auto& account = results.one<rows::Accounting>();
    const auto seen = static_cast<double>(account.seen);
    const auto add = [&](std::int64_t count, std::string_view what) {
        const auto part = part_of(static_cast<double>(count), seen);
        if (part > is_said) caveats.push_back(fmt::format("{} {}", table::percent(part), what));
    };
    add(account.lost, fmt::format("of the {}s seen were lost", noun));
    const auto skipped = account.transport.skipped_probes;
    if (part_of(static_cast<double>(skipped), seen) > is_said) {
        caveats.push_back(fmt::format("{} probes were skipped, for {} {}s seen", base::with_commas(skipped),
                                      base::with_commas(static_cast<std::int64_t>(seen)), noun));
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

void add_few_caveats(std::vector<WhyWay> ways, std::string_view noun, std::vector<std::string>& caveats) {
    const auto needed = table::values_needed(kinds::latency::tail_percent);
    std::erase_if(ways, [&](const WhyWay& way) { return way.n == 0 || way.n >= needed; });
    if (ways.empty()) return;
    caveats.push_back(fmt::format("{} {} too few for a tail: {} are needed", packets_text(ways, noun),
                                  ways.size() == 1 && ways.front().n == 1 ? "is" : "are", needed));
}

/// Of those that came last it is not known whether one stands out.
void add_owner_caveats(const Results& results, std::vector<std::string>& caveats) {
    for (const auto& one : results.of<rows::StandOut>())
        if (table::is_other(one.group))
            caveats.push_back(fmt::format("there are many {}: of the last ones none is named",
                                          one.owner == "process" ? "processes" : one.owner + 's'));
}

}  // namespace

std::vector<std::string> caveats_of(const Results& results, const std::vector<rows::Stage>& rows, const Why& why) {
    std::vector<std::string> caveats;
    add_call_caveats(results, caveats);
    add_division_caveats(rows, caveats);
    add_handed_over_caveat(rows, why, caveats);
    if (const auto share = unnamed_share(results); share > is_said)
        caveats.push_back(
            fmt::format("there are many sleeps: what for is not known of {} of their time", table::percent(share)));
    add_tail_caveats(results, why, caveats);
    add_few_caveats(why.ways, why.noun, caveats);
    add_account_caveats(results, why.noun, caveats);
    add_owner_caveats(results, caveats);
    const auto other = std::ranges::find_if(why.groups, [](const WhyGroup& of) { return table::is_other(of.group); });
    if (other != why.groups.end()) {
        caveats.push_back(
            fmt::format("\"other\" are all groups behind the first ones, with {} of the time: --port or "
                        "--addr select some of them",
                        table::percent(other->share)));
    }
    return caveats;
}

std::string nothing_text(const Results& results, std::string_view noun) {
    const auto seen = results.one<rows::Accounting>().seen, filtered = results.one<rows::Accounting>().filtered;
    if (seen == 0) {
        return fmt::format(
            "No {} was measured: there was no TCP or UDP data. Check that there is traffic (nstat, ss -ti), and "
            "whether "
            "it is one of the followed kinds (stapgen help account).",
            noun);
    }
    const auto account = results.sentences.account.empty() ? std::string() : results.sentences.account.front();
    if (filtered > seen / 2) {
        const bool by_name = account.find("--comm ") != std::string::npos;
        return fmt::format("No {} was measured: {} that were seen were filtered. Check the filters{}; {}.", noun,
                           filtered == seen ? "all" : "most",
                           by_name ? " (--comm takes names of threads, and a program's threads can have names of their "
                                     "own: ps -T -p PID)"
                                   : "",
                           account);
    }
    return fmt::format("No {} was measured to its end. {}; stapgen help account says what these are.", noun, account);
}

}  // namespace stapgen::study
