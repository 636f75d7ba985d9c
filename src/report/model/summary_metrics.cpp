// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/model/summary_metrics.h"

#include <fmt/format.h>

#include <utility>

#include "report/model/drop_advice.h"
#include "report/model/texts.h"

namespace stapgen::report {

using analyze::Summary;
using metrics::Labels;
using metrics::Sum;

namespace {

/// A field's name as a label's; those that the format or this file use are set apart.
std::string label_of(std::string_view key) {
    auto name = metrics::label_name(key);
    const bool taken = name == "recipe" || name == "stage" || name == "value" || name == "le" || name == "counted" ||
                       name == "quantile" || name == "definition";
    if (taken || name.empty() || (name[0] >= '0' && name[0] <= '9') || name.starts_with("__")) name.insert(0, "group_");
    return name;
}

}  // namespace

void SummaryMetrics::set_definition(const Summary& summary) {
    const auto definition = summary.definition().empty() ? "none" : summary.definition();
    definition_ = summary.merge_conflict.empty() ? Labels() : Labels{{"definition", definition}};
}

/// What is apart adds up with nothing of another definition.
Labels SummaryMetrics::of(Labels labels, const analyze::Group& group) const {
    for (const auto& [key, value] : group) {
        std::string content = "true";
        if (const auto* number = std::get_if<std::int64_t>(&value)) content = fmt::format("{}", *number);
        if (const auto* name = std::get_if<std::string>(&value)) content = *name;
        labels.emplace_back(label_of(key), std::move(content));
    }
    labels.insert(labels.end(), definition_.begin(), definition_.end());
    return labels;
}

void SummaryMetrics::add(const Summary& summary, std::span<const analyze::Tally> counts) {
    set_definition(summary);
    add_origins(summary);
    add_measures(summary);
    for (auto drop : analyze::total_drops(summary)) {
        const auto* const benign = advice_of(drop).benign ? "true" : "false";
        const auto module = std::exchange(drop.place.module, std::nullopt).value_or("");
        const auto reason = reason_or_empty(drop.reason);
        drops_.add(of({{"recipe", summary.recipe},
                       {"place", place_text(drop.place)},
                       {"module", module},
                       {"reason", reason},
                       {"benign", benign}},
                      drop.group),
                   drop.count);
    }
    for (const auto& tally : counts)
        tallies_.add(of({{"recipe", summary.recipe}, {"counted", summary.counted}}, tally.group), tally.count);
    add_account(summary);
}

void SummaryMetrics::add_groups(const Report& rows) {
    set_definition(rows.summary);
    for (const auto& row : rows.stages.groups) {
        const auto& [name, group, stats] = *row.measure;
        if (stats.n() > 0) groups_.add(of({{"recipe", rows.summary.recipe}, {"stage", name}}, group), stats);
    }
}

/// What is bounded: no command, and no value of a filter.
void SummaryMetrics::add_origins(const Summary& summary) {
    for (const auto& origin : summary.origins) {
        std::string options;
        for (const auto& [option, value] : origin.filters)
            options += (options.empty() ? "" : ",") + option;
        Labels labels{{"recipe", summary.recipe},
                      {"host", origin.host},
                      {"machine", origin.machine},
                      {"kernel", origin.kernel},
                      {"build_id", origin.build_id},
                      {"filters", options},
                      {"sample", fmt::format("{}", origin.sample)},
                      {"definition", origin.definition}};
        for (const auto& [name, value] : origin.labels)
            labels.emplace_back(label_of("label_" + name), value);
        runs_.samples[labels] = std::int64_t{1};
    }
}

void SummaryMetrics::add_measures(const Summary& summary) {
    const auto& recipe = summary.recipe;
    const auto is_shown = [&](const analyze::Measure& measure) {
        return measure.group.empty() && (!goes_on_ || measure.stats.n() > 0);
    };
    for (const auto& stage : summary.stages) {
        if (is_shown(stage)) stages_.add(of({{"recipe", recipe}, {"stage", stage.name}}), stage.stats);
    }
    for (const auto& value : summary.values) {
        if (is_shown(value))
            values_.add(of({{"recipe", recipe}, {"value", value.name}}), Sum{value.stats.n(), value.stats.sum()});
    }
    for (const auto& average : summary.averages) {
        const double sum = average.mean * static_cast<double>(average.n);
        if (average.is_time) {
            average_times_.add(of({{"recipe", recipe}, {"stage", average.name}}), Sum{average.n, sum / 1e9});
        } else {
            values_.add(of({{"recipe", recipe}, {"value", average.name}}), Sum{average.n, sum});
        }
    }
}

void SummaryMetrics::add_account(const Summary& summary) {
    const auto& recipe = summary.recipe;
    const auto& accounting = summary.accounting;
    const auto fate = [&](std::string_view name, const std::string& cause, std::int64_t count) {
        records_.add(of({{"recipe", recipe}, {"fate", std::string(name)}, {"cause", cause}}), count);
    };
    seen_.add(of({{"recipe", recipe}}), accounting.seen);
    fate("reported", "", accounting.reported);
    fate("filtered", "", accounting.filtered);
    for (const auto& [cause, count] : accounting.incomplete) {
        if (goes_on_) {
            incomplete_.add(of({{"recipe", recipe}, {"cause", cause}}), count);
        } else {
            fate("incomplete", cause, count);
        }
    }
    for (const auto& [cause, count] : accounting.lost)
        fate("lost", cause, count);
    if (!goes_on_) fate("unaccounted", "", accounting.unaccounted());
    for (const auto& [name, count] : accounting.other)
        other_.add(of({{"recipe", recipe}, {"name", name}}), count);
    const auto& transport = summary.transport;
    losses_.add(of({{"recipe", recipe}, {"kind", "skipped_probes"}}), transport.skipped_probes);
    losses_.add(of({{"recipe", recipe}, {"kind", "probe_errors"}}), transport.probe_errors);
    losses_.add(of({{"recipe", recipe}, {"kind", "transport_failures"}}), transport.transport_failures);
    for (const auto& [name, help, count] : summary.counters) {
        if (count) counters_.add(of({{"recipe", recipe}, {"counter", name}}), *count);
    }
    lines_.add(of({{"recipe", recipe}, {"understood", "true"}}), summary.input.recognised);
    lines_.add(of({{"recipe", recipe}, {"understood", "false"}}), summary.input.unrecognised);
    if (!goes_on_) not_closed_.add(of({{"recipe", recipe}}), std::int64_t{accounting.closed ? 0 : 1});
}

metrics::Families SummaryMetrics::families() const {
    return {runs_,    stages_,     groups_, values_, average_times_, drops_, tallies_,   seen_,
            records_, incomplete_, other_,  losses_, counters_,      lines_, not_closed_};
}

}  // namespace stapgen::report
