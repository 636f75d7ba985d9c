// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/model/slow_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "report/model/texts.h"
#include "table/histogram.h"

namespace stapgen::report {

namespace {

using analyze::Call;
using Tail = analyze::Breakdown::Tail;
using Share = Tail::Share;

/// The share of the excess to explain, and the limit of stages for it; else none of them stands out.
constexpr double covering = 0.8;
constexpr std::size_t max_named = 3;
/// Where no stage has more of the excess than `half`, and the part of none has changed by more than this, all of them
/// have grown alike.
constexpr double half = 0.5;
constexpr double alike = 0.05;

/// Never rounded to nothing or to all of it.
std::string percent_text(double part) {
    if (part > 0 && part < 0.005) return "under 1 %";
    if (part < 1 && part >= 0.995) return "over 99 %";
    return fmt::format("{:.0f} %", std::clamp(part, 0.0, 1.0) * 100);
}

std::string times_text(double times) {
    if (times >= 9.95) return fmt::format("{} times", base::with_commas(std::llround(std::min(times, 9e18))));
    return fmt::format("{:.{}f} times", times, times < 1.995 ? 2 : 1);
}

/// The stages with the most of the excess first, as many as cover enough of it; nothing where none stands out.
std::vector<const Share*> outstanding(const Tail& tail) {
    std::vector<const Share*> order;
    for (const auto& share : tail.shares)
        order.push_back(&share);
    std::ranges::stable_sort(order, [](const Share* a, const Share* b) { return a->of_excess > b->of_excess; });
    const bool in_proportion =
        order.size() > 1 && order.front()->of_excess < half &&
        std::ranges::all_of(tail.shares, [](const Share& s) { return std::abs(s.slow - s.rest) < alike; });
    double covered = 0;
    std::vector<const Share*> named;
    for (const auto* share : order) {
        if (covered >= covering || in_proportion || share->of_excess <= 0) break;
        covered += share->of_excess;
        named.push_back(share);
    }
    if (covered < covering || named.size() > max_named) named.clear();
    return named;
}

std::string share_name(const Share& share) {
    return base::printable(share.stage);
}

/// "94 % of the excess is tcp-app, which is 97 % of their time and 91 % of the others'"
std::string excess_text(const Tail& tail) {
    const char* their = tail.n_slow == 1 ? "its" : "their";
    const char* others = tail.n_rest == 1 ? "other's" : "others'";
    const auto named = outstanding(tail);
    if (named.empty()) {
        const auto& largest = *std::ranges::max_element(tail.shares, {}, &Share::of_excess);
        return fmt::format(
            "no stage stands out: the largest part of the excess, {}, is {}, which is {} of {} time and {} of the {}",
            percent_text(largest.of_excess), share_name(largest), percent_text(largest.slow), their,
            percent_text(largest.rest), others);
    }
    const auto excess = [](const Share& share) { return share.of_excess >= 1 ? "all" : percent_text(share.of_excess); };
    const auto& first = *named.front();
    if (named.size() == 1) {
        return fmt::format("{} of the excess is {}, which is {} of {} time and {} of the {}", excess(first),
                           share_name(first), percent_text(first.slow), their, percent_text(first.rest), others);
    }
    std::string text =
        fmt::format("{} of the excess is {} ({} of {} time, {} of the {})", excess(first), share_name(first),
                    percent_text(first.slow), their, percent_text(first.rest), others);
    for (std::size_t i = 1; i < named.size(); ++i) {
        text += fmt::format("{} {} is {} ({}, {})", i + 1 < named.size() ? "," : " and", excess(*named[i]),
                            share_name(*named[i]), percent_text(named[i]->slow), percent_text(named[i]->rest));
    }
    return text;
}

bool is_same_context(const Call& a, const Call& b) {
    const auto context = [](const Call& call) {
        return std::pair(call.in_thread, call.in_thread ? call.tid : call.cpu);
    };
    return context(a) == context(b);
}

std::string indented(std::int64_t depth) {
    return std::string(static_cast<std::size_t>(depth) * 2, ' ');
}

double in_us(std::int64_t ns) {
    return static_cast<double>(ns) / 1000;
}

/// The calls of one context; `begin_ns` is the tree's.
void write_context(std::string& out, std::span<const Call> calls, std::int64_t begin_ns) {
    out += fmt::format("{:>11} {:>11}    {}\n", "AT us", "TOOK us", context_text(calls.front()));
    std::vector<std::int64_t> open;  // depths of calls that have a brace
    const auto close_down_to = [&](std::int64_t depth) {
        while (!open.empty() && open.back() >= depth) {
            out += fmt::format("{:>23} |  {}}}\n", "", indented(open.back()));
            open.pop_back();
        }
    };
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const auto& call = calls[i];
        close_down_to(call.depth);
        const bool has_inner = i + 1 < calls.size() && calls[i + 1].depth > call.depth;
        out += fmt::format("{:>11.1f} {:>11.1f} |  {}{}({}){}\n",
                           in_us(base::saturating_subtract(call.begin_ns, begin_ns)), in_us(call.duration_ns),
                           indented(call.depth), base::printable(call.function), base::printable(call.args),
                           has_inner ? " {" : ";");
        if (has_inner) open.push_back(call.depth);
    }
    close_down_to(0);
}

/// Takes off the first calls that are like the first of all.
template <class IsLike>
std::span<const Call> take(std::span<const Call>& calls, IsLike is_like) {
    const auto& first = calls.front();
    const auto end = std::ranges::find_if_not(calls, [&](const Call& call) { return is_like(first, call); });
    const auto part = calls.first(static_cast<std::size_t>(end - calls.begin()));
    calls = calls.subspan(part.size());
    return part;
}

}  // namespace

Timeline timeline_of(const analyze::SlowRecord& record) {
    Timeline timeline;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < record.stages.size(); ++i) {
        if (!record.stages[i]) continue;
        timeline.steps.push_back({i, at, *record.stages[i]});
        at = base::saturating_add(at, *record.stages[i]);
    }
    timeline.length_ns = std::max({std::int64_t{1}, at, record.total_ns});
    return timeline;
}

std::string record_name(std::string_view direction, const analyze::Group& of) {
    const auto text_of = [&](std::string_view key) {
        const auto* field = find_field(of, key);
        return field == nullptr ? std::string() : group_text(*field);
    };
    const auto local = text_of("local"), remote = text_of("remote"), comm = text_of("comm"), tid = text_of("tid");
    const bool has_ends = !local.empty() && !remote.empty(), has_thread = !comm.empty() && !tid.empty();
    const bool has_container = !text_of("container").empty();
    std::vector<std::string> parts;
    std::string first = base::printable(direction);
    if (has_ends) {
        if (!first.empty()) first += ' ';
        first += direction == "rx" ? remote : local;
        first += direction == "rx" || direction == "tx" ? " > " : " - ";
        first += direction == "rx" ? local : remote;
    }
    if (!first.empty()) parts.push_back(std::move(first));
    for (const auto& field : of) {
        const auto& key = field.key;
        const auto text = group_text(field);
        if (text.empty() || (has_ends && (key == "local" || key == "remote"))) continue;
        // A container is both.
        if (has_container && (key == "cgroup" || key == "netns")) continue;
        if (has_thread && (key == "comm" || (key == "pid" && text == tid))) continue;
        if (key == "bytes") {
            parts.push_back(text + " bytes");
        } else if (key == "dev") {
            parts.push_back(text);
        } else if (has_thread && key == "tid") {
            parts.push_back(comm + '/' + text);
        } else {
            parts.push_back(base::printable(key) + ' ' + text);
        }
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string tail_sentence(const analyze::Breakdown& breakdown, double percent) {
    const auto n = breakdown.total().n();
    if (n == 0) return {};
    const auto direction = breakdown.direction().empty() ? "" : base::printable(breakdown.direction()) + " ";
    const auto threshold = breakdown.total().percentile(percent);
    if (!threshold) {
        return fmt::format("{} {}record{} {} too few to explain those above p{}: {} are needed.", base::with_commas(n),
                           direction, n == 1 ? "" : "s", n == 1 ? "is" : "are", percent,
                           base::with_commas(table::values_needed(percent)));
    }
    const auto limit = duration_text(static_cast<double>(*threshold));
    const auto tail = breakdown.tail(percent);
    if (!tail || tail->shares.empty()) {
        return fmt::format("None of {} {}records is clearly above the p{} of {}: there is no tail.",
                           base::with_commas(n), direction, percent, limit);
    }
    const bool one = tail->n_slow == 1;
    const auto who =
        fmt::format("The {}slowest of {} {}records (above the p{} of {})",
                    one ? "" : base::with_commas(tail->n_slow) + " ", base::with_commas(n), direction, percent, limit);
    const auto means = fmt::format("{} against {}{}", duration_text(tail->slow_mean_ns),
                                   duration_text(tail->rest_mean_ns), tail->n_slow == 1 ? "" : " on average");
    if (tail->slow_mean_ns <= tail->rest_mean_ns) {
        return fmt::format(
            "{} {} no more time in the stages than the others ({}): the extra time is between the stages.", who,
            one ? "spends" : "spend", means);
    }
    if (tail->rest_mean_ns <= 0) {
        return fmt::format("{} {} {} in the stages, the others nothing; {}.", who, one ? "spends" : "spend",
                           duration_text(tail->slow_mean_ns), excess_text(*tail));
    }
    return fmt::format("{} {} {} as long as the others ({}); {}.", who, one ? "takes" : "take",
                       times_text(tail->slow_mean_ns / tail->rest_mean_ns), means, excess_text(*tail));
}

std::string stage_of_tail(const Tail& tail) {
    if (tail.shares.empty() || tail.slow_mean_ns <= tail.rest_mean_ns) return {};
    const auto named = outstanding(tail);
    return named.empty() ? std::string() : named.front()->stage;
}

std::string call_tree(std::span<const Call> calls) {
    std::string out;
    if (calls.empty()) return out;
    const auto begin_ns = std::ranges::min(calls, {}, &Call::begin_ns).begin_ns;
    for (const auto context : call_contexts(calls))
        write_context(out, context, begin_ns);
    return out;
}

std::vector<std::span<const Call>> call_contexts(std::span<const Call> tree) {
    std::vector<std::span<const Call>> contexts;
    while (!tree.empty())
        contexts.push_back(take(tree, is_same_context));
    return contexts;
}

std::string context_text(const Call& call) {
    if (!call.in_thread) return fmt::format("in softirq on CPU {}", call.cpu);
    return fmt::format("in thread {} {}", call.tid, base::printable(call.comm));
}

std::vector<std::span<const Call>> call_trees(const analyze::Summary& summary) {
    std::vector<std::span<const Call>> trees;
    std::span<const Call> calls(summary.calls);
    while (!calls.empty())
        trees.push_back(take(calls, [](const Call& a, const Call& b) { return a.packet == b.packet; }));
    return trees;
}

std::string calls_left_out(const analyze::Summary& summary) {
    if (summary.calls_left_out == 0) return {};
    return fmt::format("{} more calls are not shown; the tables count them", summary.calls_left_out);
}

}  // namespace stapgen::report
