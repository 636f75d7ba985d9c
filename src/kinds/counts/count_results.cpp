// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "kinds/counts/counts.h"
#include "table/merge.h"

namespace stapgen::kinds::counts {

namespace {

using Totals = std::vector<rows::Count>;

/// The row of a counter that fell says nothing of how far it rose.
bool is_fall(const rows::Count& row) {
    const auto* name = counter_of(row);
    return name != nullptr && name->starts_with("reset.");
}

/// The sum; or, where there is no common unit, how many counters rose.
std::string title_of(const Measured& measured, const Totals& totals) {
    const auto& counting = measured.one<rows::Counting>();
    if (!counting.mixed_units)
        return fmt::format("total: {} {}", kinds::sum_of(totals), base::printable(counting.counted.value_or("")));
    const auto read = counting.counters_read.value_or(0);
    const auto fell = std::ranges::count_if(totals, is_fall);
    const auto losses =
        std::ranges::count_if(totals, [](const auto& row) { return rank_of(row, true) >= loss_by_name_rank; });
    const auto unread = measured.input.possible_losses;
    const auto may = losses > 0 || unread == 0
                         ? ""
                         : fmt::format(", but {} line{} not understood may", unread, unread == 1 ? "" : "s");
    if (counting.levels) {
        return may.empty() ? fmt::format("{} of {} counters count losses and are above 0", losses, read)
                           : fmt::format("none of {} counters counts losses and is above 0{}", read, may);
    }
    const auto rose = std::ssize(totals) - fell;
    if (rose == 0 && read > 0) {
        return fell > 0 ? fmt::format("no rise is known: {} of {} counters fell{}", fell, read, may)
                        : fmt::format("no rise of {} counters is known{}", read, may);
    }
    auto title = read > 0 ? fmt::format("{} of {} counters", rose, read)
                          : fmt::format("{} counter{}", rose, rose == 1 ? "" : "s");
    title += losses == 0 ? fmt::format(" rose; none counts losses{}", may)
                         : fmt::format(" rose; {} count{} losses", losses, losses == 1 ? "s" : "");
    if (fell > 0) title += fmt::format("; {} fell", fell);
    return title;
}

}  // namespace

void put_results(const Measured& measured, const Asked& asked, rows::Results& results) {
    const auto& counting = results.one<rows::Counting>() = measured.one<rows::Counting>();
    auto& counts = results.of<rows::OfInterval<rows::Count>>() = measured.of<rows::OfInterval<rows::Count>>();
    set_interval(counts, asked);
    for (auto& row : counts)
        row.counted = counting.counted;
    Totals totals(counts.begin(), counts.end());
    table::fold(totals);
    std::ranges::stable_sort(totals, std::greater(), [&](const rows::Count& row) {
        return std::pair(rank_of(row, counting.mixed_units), row.count);
    });
    if (counting.counted) results.sentences.counts = title_of(measured, totals);
    results.put(std::move(totals));
    results.one<rows::Counted>().counted = counting.counted;
    results.one<rows::CountersRead>().counters_read = counting.counters_read;
}

}  // namespace stapgen::kinds::counts
