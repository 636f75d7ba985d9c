// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/at_moment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "schema/schema.h"
#include "study/compare.h"
#include "study/compare_stages.h"
#include "study/sentences.h"
#include "study/whose.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

using rows::ChangeAtMoment;

/// Changes below this part of the largest one are not said.
constexpr double least_part = 0.1;
constexpr std::size_t most_changes = 3, most_owners_named = 2;

struct OwnerSum {
    double n = 0, sum_ns = 0;  ///< packets in the stage, and their time in the part
};
using OwnerSums = std::map<table::Group, OwnerSum>;

OwnerSums owner_sums_of(const Measured& measured, std::string_view kind, std::string_view part) {
    OwnerSums sums;
    const auto stage = schema::is_part(part) ? schema::divided_stage(part) : part;
    for (const auto& row : measured.of<rows::OwnerTime>()) {
        if (row.owner != kind) continue;
        if (row.stage == stage) sums[row.group].n += static_cast<double>(row.n);
        if (row.stage == part) sums[row.group].sum_ns += row.sum_ns;
    }
    std::erase_if(sums, [](const auto& sum) { return sum.second.n <= 0; });
    return sums;
}

/// One connection or thread: how much longer its packets took than its own before, else than all before; of what
/// became faster how much shorter.
struct OwnerRise {
    const table::Group* group = nullptr;
    double n = 0, rise_ns = 0;

    [[nodiscard]] double excess() const { return rise_ns * n; }
};

std::vector<OwnerRise> rises_of(const OwnerSums& before, const OwnerSums& at, const ChangeAtMoment& change) {
    std::vector<OwnerRise> rises;
    for (const auto& [group, sum] : at) {
        const auto own = before.find(group);
        const auto usual = own == before.end() ? change.before_ns : own->second.sum_ns / own->second.n;
        const auto rise = sum.sum_ns / sum.n - usual;
        rises.push_back({&group, sum.n, change.at_ns < change.before_ns ? -rise : rise});
    }
    std::ranges::stable_sort(rises, std::greater{}, &OwnerRise::excess);
    return rises;
}

/// Those that changed: by half or more of what those did that have 80 % of the change together.
std::vector<OwnerRise> changed_of(const std::vector<OwnerRise>& rises) {
    constexpr double most_of_it = 0.8;
    double all = 0, so_far = 0, n = 0;
    for (const auto& rise : rises)
        all += std::max(0.0, rise.excess());
    for (const auto& rise : rises) {
        if (so_far >= most_of_it * all) break;
        so_far += rise.excess();
        n += rise.n;
    }
    std::vector<OwnerRise> changed;
    std::ranges::copy_if(rises, std::back_inserter(changed),
                         [&](const OwnerRise& rise) { return n > 0 && rise.rise_ns >= so_far / n / 2; });
    return changed;
}

/// Sets how many connections, or else threads, have it. Returns the names of those, if they are few: " (A, B)".
std::string put_owners(const Measured& before, const Measured& at, ChangeAtMoment& change) {
    if (at.of<rows::OwnerTime>().left_out > 0) return {};
    for (const std::string_view kind : {"connection", "thread"}) {
        const auto now = owner_sums_of(at, kind, change.part);
        if (now.size() < 2) continue;
        if (std::ranges::any_of(now, [](const auto& sum) { return table::is_other(sum.first); })) return {};
        const auto changed = changed_of(rises_of(owner_sums_of(before, kind, change.part), now, change));
        if (changed.empty()) return {};
        double n = 0, excess = 0;
        std::vector<std::string> names;
        for (const auto& rise : changed) {
            n += rise.n;
            excess += rise.excess();
            names.push_back(owner_name(*rise.group));
        }
        change.owner = kind;
        change.owners = std::ssize(now);
        change.owners_changed = std::ssize(changed);
        change.change_of_changed_ns = change.at_ns < change.before_ns ? -excess / n : excess / n;
        return names.size() <= most_owners_named ? fmt::format(" ({})", fmt::join(names, ", ")) : "";
    }
    return {};
}

std::string change_text(double ns) {
    return fmt::format("{}{}", ns < 0 ? '-' : '+', table::duration_text(std::abs(ns)));
}

/// "tcp-app.run-queue +4.10 ms at the moment, in 2 of 40 connections (A, B)".
std::string text_of(const ChangeAtMoment& change, const std::string& names, bool is_first) {
    const auto* const when = is_first ? " at the moment" : "";
    const auto part = base::printable(change.part);
    const auto rise = change.at_ns - change.before_ns;
    if (!change.owners) return fmt::format("{} {}{}", part, change_text(rise), when);
    if (change.owners_changed == change.owners)
        return fmt::format("{} {}{}, in all {} {}s", part, change_text(rise), when, *change.owners, change.owner);
    return fmt::format("{} {}{}, in {} of {} {}s{}", part, change_text(*change.change_of_changed_ns), when,
                       *change.owners_changed, *change.owners, change.owner, names);
}

/// The parts of stages that differ significantly, or these where they have none; the largest change first.
std::vector<ChangeAtMoment> changes_in(const Comparison& comparison) {
    std::vector<ChangeAtMoment> changes;
    for (const auto& stage : changed_stages(comparison)) {
        if (is_total(stage)) continue;
        const auto is_of = [&](const Change& change) { return change.stage == stage; };
        const auto mean = std::ranges::find_if(
            comparison.changes, [&](const Change& change) { return is_of(change) && change.statistic == "mean"; });
        const bool is_slower = std::ranges::any_of(comparison.changes, [&](const Change& change) {
            return is_of(change) && change.verdict == Verdict::slower;
        });
        const auto put = [&](std::string name, double before_ns, double at_ns) {
            if (before_ns != at_ns && (at_ns > before_ns) == is_slower)
                changes.push_back({std::move(name), mean->n_before, mean->n_after, before_ns, at_ns});
        };
        bool has_parts = false;
        for (const auto& part : comparison.parts) {
            if (part.stage != stage) continue;
            has_parts = true;
            put(fmt::format("{}.{}", part.stage, part.cause), part.before_ns, part.after_ns);
        }
        if (!has_parts && mean->before_ns && mean->after_ns) put(stage, *mean->before_ns, *mean->after_ns);
    }
    const auto size = [](const ChangeAtMoment& change) { return std::abs(change.at_ns - change.before_ns); };
    std::ranges::stable_sort(changes, std::greater{}, size);
    if (!changes.empty())
        std::erase_if(changes, [&, least = least_part * size(changes.front())](const ChangeAtMoment& change) {
            return size(change) < least;
        });
    changes.resize(std::min(changes.size(), most_changes));
    return changes;
}

std::string counts_text(const rows::Kept& kept) {
    return fmt::format("{} records of it, {} before", base::with_commas(*kept.n_at), base::with_commas(*kept.n_before));
}

/// What is at the moment only; empty: nothing.
std::string new_text(const Comparison& comparison) {
    if (comparison.only_after.empty() || !comparison.is_one_sided) return {};
    return fmt::format("; only at the moment there is {}", fmt::join(comparison.only_after, ", "));
}

}  // namespace

void compare_moment(const Measured& before, const Measured& at, rows::Kept& kept) {
    // Records of counts have no times to compare.
    if (before.counts() || at.counts()) return;
    kept.n_before = before.accounting.reported;
    kept.n_at = at.accounting.reported;
    CompareOptions options;
    // So short that the moment has 16 or more.
    constexpr std::int64_t blocks = 32;
    options.block_ns =
        std::min(table::Series::second_ns, base::saturating_add(kept.moment_before_ns, kept.moment_after_ns) / blocks);
    const auto compared = compare(before, at, options);
    if (!compared || compared->comparison.outcome() == Outcome::none) {
        const auto more = compared ? base::printable(new_text(compared->comparison)) : "";
        kept.sentence =
            fmt::format("what differs at the moment is not known: not enough samples, {}{}", counts_text(kept), more);
        return;
    }
    const auto& comparison = compared->comparison;
    if (changed_stages(comparison).empty()) {
        kept.result = "same";
        kept.sentence = fmt::format("nothing differs significantly at the moment: {}", counts_text(kept));
        return;
    }
    kept.result = "changed";
    kept.changes = changes_in(comparison);
    for (auto& change : kept.changes) {
        const bool is_first = kept.sentence.empty();
        const auto names = put_owners(compared->before, compared->after, change);
        kept.sentence += (is_first ? "" : "; ") + text_of(change, is_first ? names : "", is_first);
    }
    // Where only percentiles differ.
    if (kept.changes.empty()) kept.sentence = "at the moment " + base::printable(comparison.sentence());
}

}  // namespace stapgen::study
