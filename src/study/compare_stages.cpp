// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/compare_stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "kinds/latency/averages.h"
#include "kinds/latency/latency.h"
#include "schema/schema.h"
#include "study/compare_failures.h"

namespace stapgen::study {

namespace {

std::vector<std::string> seen_stages(const Measured& measured) {
    std::vector<std::string> seen;
    for (const auto& [name, stats] : kinds::latency::whole_of(measured.of<rows::Stage>()))
        if (stats->n() > 0) seen.push_back(name);
    for (const auto& [name, average] : measured.of<rows::AverageOf>())
        if (average.is_time && average.n > 0) seen.push_back(name);
    return seen;
}

/// What is among `stages` and not among `other`.
std::vector<std::string> only_in(const std::vector<std::string>& stages, const std::vector<std::string>& other) {
    std::vector<std::string> only;
    std::ranges::copy_if(stages, std::back_inserter(only),
                         [&](const std::string& name) { return std::ranges::find(other, name) == other.end(); });
    return only;
}

/// Whether one of these stages is no rare one.
bool any_frequent(const std::vector<std::string>& names, const Measured& measured) {
    constexpr double rare = 0.01;
    std::int64_t most = 0, largest = 0;
    const auto count = [&](const std::string& name, std::int64_t n) {
        most = std::max(most, n);
        // Whether there are failures is no difference in what was measured: changes_of_failures() says it.
        if (name != stage_of_failures && std::ranges::find(names, name) != names.end()) largest = std::max(largest, n);
    };
    for (const auto& [name, stats] : kinds::latency::whole_of(measured.of<rows::Stage>()))
        count(name, stats->n());
    for (const auto& [name, average] : measured.of<rows::AverageOf>())
        count(name, average.n);
    return largest > 0 && static_cast<double>(largest) >= rare * static_cast<double>(most);
}

std::string list_of(const std::vector<std::string>& names) {
    return base::printable(fmt::format("{}", fmt::join(names, ", ")));
}

base::Result<void> check_common_stages(const Comparison& comparison, const std::vector<std::string>& before) {
    const auto is_common = [&](const std::string& name) {
        return !is_total(name) && std::ranges::find(comparison.only_before, name) == comparison.only_before.end();
    };
    if (comparison.only_before.empty() && comparison.only_after.empty()) return {};
    if (std::ranges::any_of(before, is_common)) return {};
    return base::bad_input(fmt::format("before and after have no stage in common: {} and {}",
                                       list_of(comparison.only_before), list_of(comparison.only_after)),
                           "compare recordings of the same kind of packets; 'report' shows what is in each");
}

}  // namespace

std::vector<std::string> seen_stages(const Measured& measured, const table::Breakdown& breakdown) {
    std::vector<std::string> seen;
    for (const auto& name : breakdown.stages()) {
        const auto* values = kinds::latency::stage_of(measured, name);
        if (values != nullptr && values->n() > 0) seen.push_back(name);
    }
    return seen;
}

namespace {

/// Time per packet that was in the stage.
double share_of(const Measured& measured, const std::string& part) {
    const auto* stage = kinds::latency::stage_of(measured, schema::divided_stage(part));
    const auto parts = kinds::latency::parts_of(measured.of<rows::Stage>());
    const auto found = std::ranges::find(parts, part, &kinds::latency::Measures::value_type::first);
    if (stage == nullptr || stage->n() == 0 || found == parts.end()) return 0;
    return found->second->sum() / static_cast<double>(stage->n());
}

}  // namespace

std::vector<PartChange> changes_of_parts(const Measured& before, const Measured& after) {
    std::vector<PartChange> changes;
    const auto has_parts = [](const Measured& side, std::string_view stage) {
        return std::ranges::any_of(kinds::latency::parts_of(side.of<rows::Stage>()), [&](const auto& part) {
            return schema::divided_stage(part.first) == stage && part.second->n() > 0;
        });
    };
    auto names = kinds::latency::parts_of(before.of<rows::Stage>());
    for (const auto& part : kinds::latency::parts_of(after.of<rows::Stage>())) {
        if (std::ranges::find(names, part.first, &kinds::latency::Measures::value_type::first) == names.end())
            names.push_back(part);
    }
    for (const auto& [name, stats] : names) {
        const auto stage = schema::divided_stage(name);
        PartChange change{std::string(stage), std::string(schema::cause_of(name)), share_of(before, name),
                          share_of(after, name)};
        if (has_parts(before, stage) && has_parts(after, stage) && change.before_ns + change.after_ns > 0)
            changes.push_back(std::move(change));
    }
    return changes;
}

bool is_total(std::string_view stage) {
    return stage == "total" || stage.ends_with(" total");
}

std::string one_sided_text(const Comparison& comparison) {
    std::vector<std::string> sides;
    if (!comparison.only_before.empty()) sides.push_back("only before has " + list_of(comparison.only_before));
    if (!comparison.only_after.empty()) sides.push_back("only after has " + list_of(comparison.only_after));
    return fmt::format("{}: not compared, and no total that these are part of", fmt::join(sides, ", "));
}

base::Result<void> set_one_sided_stages(const Measured& before, const Measured& after, Comparison& comparison) {
    const auto seen_before = seen_stages(before), seen_after = seen_stages(after);
    comparison.only_before = only_in(seen_before, seen_after);
    comparison.only_after = only_in(seen_after, seen_before);
    comparison.is_one_sided =
        any_frequent(comparison.only_before, before) || any_frequent(comparison.only_after, after);
    return check_common_stages(comparison, seen_before);
}

}  // namespace stapgen::study
