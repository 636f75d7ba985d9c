// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/saturate.h"
#include "kinds/drops/advice.h"
#include "kinds/drops/drops.h"
#include "table/merge.h"
#include "table/texts.h"

namespace stapgen::kinds::drops {

namespace {

using DropOfInterval = rows::OfInterval<rows::Drop>;
using StackOfInterval = rows::OfInterval<rows::Stack>;

/// All intervals together.
template <class Row>
std::vector<Row> totals_of(const std::vector<rows::OfInterval<Row>>& of_intervals) {
    std::vector<Row> totals(of_intervals.begin(), of_intervals.end());
    table::fold(totals);
    return totals;
}

/// A place with a name is one in several recordings, whatever its address: a kernel that was started again has the same
/// function elsewhere.
void join_places(std::vector<rows::Drop>& drops) {
    std::map<std::tuple<table::Place, table::Reason, table::Group>, std::size_t> rows;  // by all but the address
    const auto key_of_row = [&](const rows::Drop& drop) {
        auto named = drop.place;
        if (named.symbol) named.address.reset();
        return std::tuple(std::move(named), drop.reason, drop.group);
    };
    for (const auto& drop : drops)
        ++rows[key_of_row(drop)];
    for (auto& drop : drops) {
        auto key = key_of_row(drop);
        if (rows.at(key) > 1) drop.place = std::get<table::Place>(std::move(key));
    }
    table::fold(drops);
}

/// Without addresses; those of the most frequent reason first, of one reason the largest first.
std::vector<rows::Stack> total_paths(std::vector<StackOfInterval> stacks) {
    for (auto& stack : stacks)
        std::ranges::for_each(stack.frames.own(), table::keep_name_only);
    auto totals = totals_of(stacks);
    std::map<table::Reason, std::int64_t> of_reason;
    for (const auto& stack : totals)
        base::add_saturating(of_reason[stack.reason], stack.count);
    std::ranges::sort(totals, [&](const rows::Stack& a, const rows::Stack& b) {
        const auto key = [&](const rows::Stack& stack) {
            return std::tuple(-of_reason.at(stack.reason), stack.reason, -stack.count, stack.frames);
        };
        return key(a) < key(b);
    });
    return totals;
}

/// Marks what is benign. Where that is not shown, returns it and leaves it out.
template <class Row>
std::vector<Row> take_hidden(std::vector<Row>& drops, bool hide_benign) {
    for (auto& drop : drops) {
        const auto advice = advice_of(drop.place, drop.reason);
        drop.benign = advice.benign;
        drop.advice = advice.text;
    }
    if (!hide_benign) return {};
    std::vector<Row> hidden;
    std::ranges::copy_if(drops, std::back_inserter(hidden), &Row::benign);
    std::erase_if(drops, [](const Row& drop) { return drop.benign; });
    return hidden;
}

template <class Hidden, class Row>
Hidden sum_of_hidden(const std::vector<Row>& hidden) {
    Hidden sum;
    sum.rows = std::ssize(hidden);
    sum.count = kinds::sum_of(hidden);
    return sum;
}

std::vector<rows::HiddenOfInterval> hidden_by_interval(const std::vector<DropOfInterval>& hidden) {
    std::vector<rows::HiddenOfInterval> rows;
    for (const auto& drop : hidden)
        rows.push_back({drop.interval, drop.reason, 1, drop.count});
    table::fold(rows);
    return rows;
}

/// Advice on drops, each once, that for the most drops first.
std::vector<rows::Advice> advice_on(const std::vector<rows::Drop>& drops) {
    std::vector<rows::Advice> all;
    for (const auto& drop : drops) {
        const auto advice = advice_of(drop.place, drop.reason);
        if (advice.text.empty()) continue;
        all.push_back({drop.reason.name,
                       advice.function.empty() ? std::nullopt : std::optional(std::string(advice.function)),
                       advice.benign, drop.count, std::string(advice.text)});
    }
    table::fold(all);
    std::ranges::stable_sort(all, std::greater(), &rows::Advice::count);
    return all;
}

/// The most frequent paths of each reason, and how many others there are.
void put_shown_paths(const std::vector<rows::Stack>& paths, std::size_t most, rows::Results& results) {
    auto& few = results.stacks_shown = paths;
    std::map<std::string, std::size_t> seen;
    std::erase_if(few, [&](const rows::Stack& stack) { return ++seen[reason_text(stack.reason)] > most; });
    if (few.empty()) return;
    auto& title = results.sentences.stacks;
    title = fmt::format("Call paths, the {}most frequent of each reason", most == 1 ? "" : fmt::format("{} ", most));
    if (const auto others = paths.size() - few.size(); others > 0)
        title += fmt::format("; --format folded has {} more", others);
}

std::string total_text(const std::vector<rows::Drop>& totals) {
    if (totals.empty()) return "total: no drops";
    const auto sum = kinds::sum_of(totals);
    return fmt::format("total: {} drop{} at {}{}", sum, sum == 1 ? "" : "s", totals.size(),
                       totals.size() == 1 ? " place" : " places and reasons");
}

}  // namespace

void put_results(const Measured& measured, const Asked& asked, rows::Results& results) {
    auto& drops = results.of<DropOfInterval>() = measured.of<DropOfInterval>();
    auto& stacks = results.of<StackOfInterval>() = measured.of<StackOfInterval>();
    set_interval(drops, asked);
    set_interval(stacks, asked);
    std::vector<rows::Drop>& totals = results.of<rows::Drop>();
    totals = totals_of(drops);
    if (measured.recordings > 1) join_places(totals);
    table::largest_first(totals);
    if (drops.is_there) results.sentences.drops = total_text(totals);
    const auto hidden = take_hidden<DropOfInterval>(drops, asked.hide_benign);
    const auto hidden_totals = take_hidden<rows::Drop>(totals, asked.hide_benign);
    results.one<rows::HiddenDrops>() = sum_of_hidden<rows::HiddenDrops>(hidden);
    if (!hidden_totals.empty()) results.one<rows::HiddenTotals>() = sum_of_hidden<rows::HiddenTotals>(hidden_totals);
    results.put(hidden_by_interval(hidden));
    results.put(advice_on(totals));
    auto paths = total_paths(stacks);
    put_shown_paths(paths, measured.stacks_shown, results);
    results.put(std::move(paths));
}

}  // namespace stapgen::kinds::drops
