// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "table/merge.h"

namespace stapgen::analyze {

namespace {

using kinds::Counter, kinds::Origin;

/// Appends to `into` what only `from` has.
template <class T>
void add_new(std::vector<T>& into, const std::vector<T>& from) {
    std::ranges::copy_if(from, std::back_inserter(into),
                         [&](const T& one) { return std::ranges::find(into, one) == into.end(); });
}

/// Where a function's address and a reason's number are not the same everywhere: its name and that of the reason
/// remain.
void drop_places_of_one_kernel(kinds::Tables& tables) {
    table::change_each<table::Place>(tables, table::keep_name_only);
    table::change_each<table::Path>(tables,
                                    [](table::Path& path) { std::ranges::for_each(path, table::keep_name_only); });
    table::change_each<table::Reason>(tables, [](table::Reason& reason) {
        if (reason.name) reason.number = -1;
    });
    const auto fold_of_intervals = [](auto& rows) {
        table::fold(rows);
        table::largest_first(rows);
    };
    fold_of_intervals(tables.of<rows::OfInterval<rows::Drop>>());
    fold_of_intervals(tables.of<rows::OfInterval<rows::Stack>>());
    table::fold(tables.of<rows::Who>());
    table::fold(tables.of<rows::CodeSample>());
}

void merge_kernels(Measured& into, Measured& other) {
    std::vector<std::string> all;
    std::ranges::set_union(into.kernels, other.kernels, std::back_inserter(all));
    if (all.size() > 1) {
        for (auto* measured : {&into, &other}) {
            if (measured->kernels.size() < 2) drop_places_of_one_kernel(*measured);
        }
    }
    into.kernels = std::move(all);
}

void merge_counters(std::vector<Counter>& into, const std::vector<Counter>& more) {
    for (const auto& counter : more) {
        const auto known = std::ranges::find(into, counter.name, &Counter::name);
        if (known == into.end()) {
            into.push_back(counter);
            continue;
        }
        if (counter.count) known->count = base::saturating_add(known->count.value_or(0), *counter.count);
        known->help = std::min(known->help, counter.help);
    }
}

/// The input does not say of how many values each is.
void note_largest_means(Measured& measured) {
    for (const auto& [name, average] : measured.of<rows::AverageOf>()) {
        if (!average.is_largest) continue;
        add_new(measured.notes,
                {{name + ": the largest mean of the recordings, which do not state their number of values",
                  decode::NoteKind::count}});
    }
}

void merge_flaws(std::vector<decode::InputCounts::FlawedLine>& into,
                 const std::vector<decode::InputCounts::FlawedLine>& more) {
    into.insert(into.end(), more.begin(), more.end());
    std::ranges::sort(into, {}, [](const auto& line) { return std::tie(line.number, line.flaw, line.excerpt); });
    if (into.size() > decode::InputCounts::kept_flaws) into.resize(decode::InputCounts::kept_flaws);
}

std::int64_t recorded_ns(const kinds::Run& measured) {
    if (measured.recordings > 1) return measured.recorded_ns;
    if (!measured.start_epoch_ns || !measured.end_epoch_ns) return 0;
    return std::max<std::int64_t>(0, base::saturating_subtract(*measured.end_epoch_ns, *measured.start_epoch_ns));
}

std::string definition_name(const Measured& measured) {
    return measured.definition().empty() ? "none" : base::printable(measured.definition());
}

}  // namespace

base::Result<void> check_one_definition(const Measured& measured, const Measured& other) {
    if (measured.recipe != other.recipe) {
        return base::bad_input(
            fmt::format("a recording of {} cannot be added to one of {}", other.recipe, measured.recipe),
            "give recordings of one recipe only");
    }
    if (measured.definition() != other.definition()) {
        return base::bad_input(
            fmt::format("recordings of {} have different definitions, {} and {}: {}", base::printable(measured.recipe),
                        definition_name(measured), definition_name(other), merge_conflict_of(measured, other)),
            "'stapgen report' shows them separately; compare recordings of one definition");
    }
    return {};
}

base::Result<void> merge(Measured& into, Measured added) {
    if (auto same = check_one_definition(into, added); !same) return same;
    add_new(into.notes, added.notes);
    add_new(into.origins, added.origins);
    std::ranges::sort(into.origins, {}, [](const Origin& origin) {
        return std::tie(origin.host, origin.kernel, origin.command, origin.filters, origin.machine, origin.labels,
                        origin.build_id, origin.sample, origin.definition, origin.recipe_hash, origin.functions);
    });
    merge_kernels(into, added);
    table::append<kinds::Tables>(into, static_cast<kinds::Tables&&>(added));
    into.stacks_shown = std::max(into.stacks_shown, added.stacks_shown);
    into.accounting += added.accounting;
    base::add_saturating(into.aggregated, added.aggregated);
    merge_counters(into.counters, added.counters);
    into.input.lines += added.input.lines;
    into.input.recognised += added.input.recognised;
    into.input.unrecognised += added.input.unrecognised;
    into.input.possible_losses += added.input.possible_losses;
    merge_flaws(into.input.first_flaws, added.input.first_flaws);
    kinds::add_up(into.transport, added.transport);
    into.cost += added.cost;
    into.sample += added.sample;
    if (into.broke_off.empty() || (!added.broke_off.empty() && added.broke_off < into.broke_off))
        into.broke_off = added.broke_off;
    // The one farther from 0, of equal ones that forward.
    const auto distance = [](std::int64_t ns) { return std::pair(ns < 0 ? base::saturating_subtract(0, ns) : ns, ns); };
    into.clock_set_ns =
        std::max(into.clock_set_ns, added.clock_set_ns, [&](auto a, auto b) { return distance(a) < distance(b); });
    base::add_saturating(into.suspended_ns, added.suspended_ns);

    into.recorded_ns = base::saturating_add(recorded_ns(into), recorded_ns(added));
    base::add_saturating(into.recordings, added.recordings);
    const auto earlier = [](auto a, auto b) { return a && b ? std::min(a, b) : a ? a : b; };
    into.start_epoch_ns = earlier(into.start_epoch_ns, added.start_epoch_ns);
    into.end_epoch_ns = std::max(into.end_epoch_ns, added.end_epoch_ns);
    rows::sort_groups(into.of<rows::Stage>(), into.of<rows::Value>());
    std::ranges::stable_sort(into.of<rows::Breakdown>(), {}, &rows::Breakdown::way);
    note_largest_means(into);
    return {};
}

Measured merge_all(std::vector<Measured> recordings) {
    if (std::ranges::all_of(recordings, [](const Measured& recording) { return !recording.has<rows::Readings>(); })) {
        std::ranges::stable_sort(recordings, {}, [](const Measured& recording) {
            const auto& origins = recording.origins;
            return std::tuple(recording.start_epoch_ns, recording.end_epoch_ns,
                              origins.empty() ? std::string() : origins.front().host, recording.input.lines,
                              recording.accounting.reported);
        });
    }
    // Neighbours first: a sum is as large as what it is made of, and is moved as often as there are levels.
    for (std::size_t step = 1; step < recordings.size(); step *= 2) {
        for (std::size_t i = 0; i + step < recordings.size(); i += 2 * step) {
            (void)merge(recordings[i], std::move(recordings[i + step]));  // one recipe
            recordings[i + step] = Measured();
        }
    }
    return std::move(recordings.front());
}

}  // namespace stapgen::analyze
