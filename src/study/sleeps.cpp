// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/sleeps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/saturate.h"
#include "base/text.h"
#include "schema/schema.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

struct Sleeps {
    std::int64_t n = 0, ns = 0;

    void add(const rows::Who& row) {
        base::add_saturating(n, row.n);
        base::add_saturating(ns, row.sum_ns);
    }
};
using SleepsBy = std::map<std::string, Sleeps, std::less<>>;

double ratio(std::int64_t part, std::int64_t all) {
    return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

/// Of threads with requests.
std::vector<const rows::Who*> sleeps_of(const rows::Results& results, std::string_view waited) {
    std::vector<const rows::Who*> rows;
    for (const auto& row : results.of<rows::Who>())
        if (!row.with_packet_ns && table::group_text(row.group, "waited") == waited) rows.push_back(&row);
    return rows;
}

Sleeps sum_of(const std::vector<const rows::Who*>& rows) {
    Sleeps all;
    for (const auto* row : rows)
        all.add(*row);
    return all;
}

/// By what is named of a key.
SleepsBy sums_of(const std::vector<const rows::Who*>& rows, std::string_view key) {
    SleepsBy sums;
    for (const auto* row : rows)
        if (auto text = table::group_text(row->group, key); table::is_named(text)) sums[std::move(text)].add(*row);
    return sums;
}

/// The one that has most of the time.
SleepsBy::value_type most_of(const SleepsBy& sums) {
    const auto found = std::ranges::max_element(sums, {}, [](const auto& sum) { return sum.second.ns; });
    return found == sums.end() ? SleepsBy::value_type() : *found;
}

void keep(std::vector<const rows::Who*>& rows, std::string_view key, std::string_view value) {
    std::erase_if(rows, [&](const rows::Who* row) { return table::group_text(row->group, key) != value; });
}

/// "mostly in disk", "mostly running".
std::string mostly(std::string_view part) {
    static constexpr std::array<std::string_view, 3> states{"running", "throttled", "asleep"};
    return std::ranges::find(states, part) == states.end() ? fmt::format("mostly in {}", part)
                                                           : fmt::format("mostly {}", part);
}

std::string of_text(std::int64_t n, std::int64_t all) {
    return fmt::format("{} of {}", base::with_commas(n), base::with_commas(all));
}

/// Whether the sleeps for servers are those of the requests: others were selected, sampled or lost.
bool are_of_requests(const rows::Results& results) {
    constexpr double tolerance = 0.1;
    const auto slept = static_cast<double>(sum_of(sleeps_of(results, "server")).ns);
    for (const auto& stage : results.of<rows::Stage>()) {
        if (stage.stage != "app.server" || !stage.group.empty()) continue;
        const auto waited = stage.distribution->sum();
        return waited > 0 && std::abs(slept - waited) <= tolerance * waited;
    }
    return false;
}

/// Those that were read: all of them have the stage.
std::int64_t requests_of(const rows::Results& results) {
    for (const auto& stage : results.of<rows::Stage>())
        if (stage.stage == "app" && stage.group.empty()) return stage.distribution->n();
    return 0;
}

}  // namespace

std::optional<SleptFor> slept_for(const rows::Results& results, std::string_view part) {
    constexpr double least = 0.05, most = 0.5;
    if (schema::divided_stage(part) != "app") return std::nullopt;
    const auto waited = schema::cause_of(part);
    auto rows = sleeps_of(results, waited);
    const auto all = sum_of(rows);
    const auto [by, of_it] = most_of(sums_of(rows, "by"));
    const auto share = ratio(of_it.ns, all.ns);
    if (by.empty() || share < least) return std::nullopt;
    SleptFor slept{std::string(waited), by, share, of_it.n, {}, 0, {}, 0, {}, 0};
    keep(rows, "by", by);
    auto wakers = sums_of(rows, "waker");
    // What is not a thread is known from what was slept for.
    std::erase_if(wakers, [](const auto& waker) { return !waker.first.ends_with(']'); });
    const auto [waker, woken] = most_of(wakers);
    slept.waker = waker;
    slept.n_woken = woken.n;
    const auto [holder, held] = most_of(sums_of(rows, "holder"));
    slept.holder = holder;
    slept.n_held = held.n;
    keep(rows, "holder", holder);
    const auto [meanwhile, in_it] = most_of(sums_of(rows, "meanwhile"));
    if (ratio(in_it.ns, held.ns) < most) return slept;
    slept.meanwhile = meanwhile;
    slept.meanwhile_share = ratio(in_it.ns, held.ns);
    return slept;
}

std::string sleep_sentence(const SleptFor& slept) {
    auto text =
        fmt::format("; {} of that sleep was {}", table::percent(slept.share), table::whom_text(slept.waited, slept.by));
    if (!slept.holder.empty()) {
        text += fmt::format(", which {} held ({} times)", slept.holder, of_text(slept.n_held, slept.n));
        if (!slept.meanwhile.empty())
            text += fmt::format(", {} ({} %)", mostly(slept.meanwhile), table::whole_percent(slept.meanwhile_share));
    } else if (slept.waited == "lock") {
        text += ", and who held it is not known";
    }
    if (!slept.waker.empty()) text += fmt::format("; {} ended {} sleeps", slept.waker, of_text(slept.n_woken, slept.n));
    return text;
}

std::string remedy_of(const SleptFor& slept) {
    // Of what its holder does meanwhile.
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 13> remedies{{
        {"running", "do less while it is held: perf record -t TID of its holder"},
        {"run-queue", "its holder had no CPU: fewer threads for each CPU (taskset, cpuset.cpus)"},
        {"throttled", "its holder's cgroup had used up its quota: a larger cpu.max (cpu.stat: nr_throttled)"},
        {"disk", "do not hold it during disk I/O"},
        {"swap", "do not hold it while memory comes back from swap: mlock() what it guards"},
        {"memory", "its holder had to free memory first: a larger memory.high (memory.events: high)"},
        {"lock", "its holder waited for another lock: find that one's holder first"},
        {"futex", "do not hold it while another thread is waited for"},
        {"kernel-lock", "do not hold it during calls that change the address space: mmap, munmap, mprotect"},
        {"server", "do not hold it while another server is asked"},
        {"process", "do not hold it while another process is waited for"},
        {"timer", "do not hold it while its holder sleeps until a time"},
        {"other-sockets", "do not hold it while other sockets are waited for"},
    }};
    if (slept.waited != "lock") return {};
    const auto* const found =
        std::ranges::find(remedies, slept.meanwhile, &std::pair<std::string_view, std::string_view>::first);
    return found == remedies.end() ? std::string() : std::string(found->second);
}

double unnamed_share(const rows::Results& results) {
    Sleeps unnamed, all;
    for (const auto& row : results.of<rows::Who>()) {
        if (row.with_packet_ns || table::group_text(row.group, "waited").starts_with("server.")) continue;
        all.add(row);
        if (table::is_other(row.group)) unnamed.add(row);
    }
    return ratio(unnamed.ns, all.ns);
}

std::string asked_sentence(const rows::Results& results) {
    constexpr std::size_t most_named = 2;
    const auto first = sums_of(sleeps_of(results, "server.first"), "by");
    const auto rest = sums_of(sleeps_of(results, "server.rest"), "by");
    std::vector<std::pair<std::string, Sleeps>> order(first.begin(), first.end());
    std::erase_if(order, [](const auto& of) { return of.second.n == 0; });
    if (order.empty()) return {};
    std::ranges::stable_sort(order, std::greater{}, [](const auto& of) { return of.second.ns; });
    const auto requests = are_of_requests(results) ? requests_of(results) : 0;
    const auto mean = [](const Sleeps& sum) {
        return table::duration_text(static_cast<double>(sum.ns) / static_cast<double>(sum.n));
    };
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(order.size(), most_named); ++i) {
        const auto& [address, sum] = order[i];
        const auto each = ratio(sum.n, requests);
        const auto often = requests > 0 ? fmt::format("{:.{}f} times per request", each, each < 0.95 ? 2 : 1)
                                        : fmt::format("{} time{}", base::with_commas(sum.n), sum.n == 1 ? "" : "s");
        texts.push_back(fmt::format("asked {} {}: sent to first byte {} (mean of {})", address, often, mean(sum),
                                    base::with_commas(sum.n)));
        const auto more = rest.find(address);
        if (more != rest.end() && more->second.n > 0 && more->second.ns * 10 > sum.ns)
            texts.back() += fmt::format(", from there until it was read {}", mean(more->second));
    }
    if (order.size() > most_named)
        texts.push_back(
            fmt::format("and {} more server{}", order.size() - most_named, order.size() == most_named + 1 ? "" : "s"));
    return fmt::format("; {}", fmt::join(texts, "; "));
}

}  // namespace stapgen::study
