// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <span>
#include <utility>

#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/new_file.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "session/measured_facts.h"
#include "session/presentation.h"
#include "session/replay.h"
#include "study/sentences.h"
#include "table/texts.h"

namespace stapgen::cli {

namespace {

/// A folder's files, or a list with commas, unless there is a file of that very name.
base::Result<std::vector<std::filesystem::path>> files_of(const std::string& typed) {
    std::error_code error;
    if (std::filesystem::exists(typed, error)) return files_at({typed});
    std::vector<std::filesystem::path> files;
    for (const auto name : base::split(typed, ','))
        files.emplace_back(name);
    return files;
}

bool has_durations(const kinds::Measured& measured) {
    return measured.has<rows::AverageOf>() || (measured.has<rows::Stage>() && !measured.counts());
}

/// The recordings of one side by group, as --by says: all in one where it says nothing.
using Recordings = std::vector<std::pair<table::Group, std::vector<kinds::Measured>>>;

std::vector<kinds::Measured>* recordings_of(const table::Group& group, Recordings& side) {
    const auto found = std::ranges::find(side, group, &Recordings::value_type::first);
    return found == side.end() ? nullptr : &found->second;
}

std::string text_of(const table::Group& group) {
    std::vector<std::string> words;
    for (const auto& field : group)
        words.push_back(fmt::format("{} {}", base::printable(field.key), table::group_text(field)));
    return fmt::format("{}", fmt::join(words, ", "));
}

/// A recording for each run; the parts of one run are one.
base::Result<Recordings> load_side(const std::string& typed, const session::Presentation& presentation,
                                   const std::vector<std::string>& by) {
    STAPGEN_LET(const auto files, files_of(typed));
    STAPGEN_LET(auto runs, session::load_runs(files, presentation, {}));
    Recordings side;
    for (auto& [name, reports] : runs) {
        if (std::ranges::any_of(reports, has_durations)) {
            std::erase_if(reports, [](const kinds::Measured& measured) { return !has_durations(measured); });
        }
        if (reports.size() != 1) {
            std::vector<std::string> recipes;
            for (const auto& measured : reports)
                recipes.push_back(base::printable(measured.recipe));
            return base::bad_input(fmt::format("{} holds several recipes: {}", name, fmt::join(recipes, ", ")),
                                   "give a file of one recipe; 'report' shows what is in it");
        }
        auto& measured = reports.front();
        const auto origin = measured.origins.empty() ? recording::Origin() : measured.origins.front();
        // A folder for each side, and in them the same names.
        const auto group = session::origin_group(by, origin, std::filesystem::path(name).filename().string());
        auto* known = recordings_of(group, side);
        if (known == nullptr) known = &side.emplace_back(group, std::vector<kinds::Measured>()).second;
        known->push_back(std::move(measured));
    }
    return side;
}

base::Result<study::Compared> compare(const table::Group& group, const std::vector<kinds::Measured>& before,
                                      const std::vector<kinds::Measured>& after, const study::CompareOptions& limits) {
    auto compared = study::compare(before, after, limits);
    if (compared) compared->comparison.group = group;
    return compared;
}

/// The groups on one side only: said to the user, and returned.
std::vector<std::string> report_missing(Recordings& side, Recordings& other, std::string_view name) {
    std::vector<std::string> missing;
    for (const auto& [group, recordings] : side) {
        if (recordings_of(group, other) != nullptr) continue;
        missing.push_back(text_of(group));
        base::print_message(fmt::format("{} is only in {} and is not compared", missing.back(), name));
    }
    return missing;
}

base::Result<std::vector<study::Compared>> compare_all(Recordings& before, Recordings& after,
                                                       const study::CompareOptions& limits) {
    std::vector<study::Compared> all;
    for (const auto& [group, recordings] : before) {
        const auto* others = recordings_of(group, after);
        if (others == nullptr) continue;
        auto compared = compare(group, recordings, *others, limits);
        if (!compared) {
            if (!group.empty()) compared.error().what.insert(0, text_of(group) + ": ");
            return tl::make_unexpected(compared.error());
        }
        all.push_back(*std::move(compared));
    }
    if (all.empty()) {
        return base::bad_input("BEFORE and AFTER have nothing in common",
                               "omit --by, or give recordings of the same hosts, names or labels for both sides");
    }
    return all;
}

/// The outcome, as an exit code: 0 only if all was compared and nothing regressed. `missing`: groups of one side.
base::Result<void> verdict_of(std::span<const study::Compared> all, std::vector<std::string> missing,
                              double threshold) {
    std::vector<std::string> slower;
    std::string why = missing.empty() ? "" : "nothing is on both sides";
    for (const auto& [comparison, before, after] : all) {
        for (const auto& change : comparison.changes) {
            if (change.is_regression && std::ranges::find(slower, change.stage) == slower.end())
                slower.push_back(change.stage);
        }
        const std::string failures = "the share of failures";
        if (std::ranges::any_of(comparison.failures, &study::FailureChange::is_regression) &&
            std::ranges::find(slower, failures) == slower.end())
            slower.push_back(failures);
        if (comparison.outcome() != study::Outcome::none) continue;
        if (!comparison.group.empty()) missing.push_back(text_of(comparison.group));
        why = base::printable(comparison.sentence());
    }
    if (!slower.empty()) {
        return tl::make_unexpected(base::Error{base::ErrorKind::regression,
                                               fmt::format("regression: {} exceed{} the {:.4g} % threshold",
                                                           base::printable(fmt::format("{}", fmt::join(slower, ", "))),
                                                           slower.size() == 1 ? "s" : "", threshold * 100),
                                               "--threshold sets the limit"});
    }
    if (why.empty()) return {};
    return tl::make_unexpected(base::Error{
        base::ErrorKind::no_result, missing.empty() ? why : fmt::format("no result for {}", fmt::join(missing, "; ")),
        "this neither shows nor excludes a regression: record longer, or give five or more recordings for each side"});
}

base::Result<void> compare(const Call& /*call*/, const CompareOptions& options) {
    STAPGEN_LET(auto presentation, presentation_of(options.present));
    const auto by = std::exchange(presentation.by_origin, {});
    if (presentation.by && !presentation.by->empty()) {
        return base::bad_input(
            fmt::format("--by {}: compare groups recordings, not their records",
                        base::printable(presentation.by->front())),
            "use --by host, --by recording or --by label:NAME; 'report --by' takes fields of records");
    }
    presentation.by.emplace();  // no groups
    STAPGEN_LET(auto before, load_side(options.before, presentation, by));
    STAPGEN_LET(auto after, load_side(options.after, presentation, by));

    auto missing = report_missing(before, after, "BEFORE");
    std::ranges::move(report_missing(after, before, "AFTER"), std::back_inserter(missing));
    STAPGEN_LET(const auto all,
                compare_all(before, after, {.percentiles = presentation.percentiles, .threshold = options.threshold}));
    if (all.size() > 1 && presentation.format->one_comparison) {
        return base::bad_input(
            fmt::format("--format {} with --by: a page shows one comparison", options.present.format),
            "omit --by, or compare the files of one group");
    }
    STAPGEN_LET(auto output, NewFile::open(options.output));
    session::present(std::cout, all, presentation);
    if (auto kept = output.keep(); !kept) return kept;
    return verdict_of(all, std::move(missing), options.threshold);
}

}  // namespace

CommandSpec compare_command() {
    std::vector<std::string> formats;
    for (const auto& format : show::formats()) {
        if (format.write_comparisons != nullptr) formats.emplace_back(format.name);
    }
    CommandSpec command{"stapgen", "compare", "What became slower or faster between two measurements"};
    auto& options = add_values<CompareOptions>(command, compare);
    command.notes =
        "~: no significant difference. Exit codes: 0 compared, no regression; 3 a regression; 7 no result:\ntoo "
        "little was measured. Each side takes several recordings of the same thing, best\ntaken alternately (ABAB). "
        "With five "
        "or more per side, the intervals include the variation\nbetween recordings. docs/guide/comparing.md\n";
    command.examples = {"stapgen compare before.rec after.rec",
                        "stapgen compare --threshold 10% -P 50,99 a1.rec,a2.rec b1.rec,b2.rec"};
    command.options = joined({
        {option("before", "BEFORE", groups::arguments,
                "A file that 'report' reads, several separated by commas, or a folder", "", &options.before,
                {.required = true}),
         option("after", "AFTER", groups::arguments, "The same, for the other side", "", &options.after,
                {.required = true}),
         option("--threshold", "PERCENT", groups::output, "Report a regression if a stage is slower by more than this",
                "", read_by(base::parse_percent, options.threshold, false), {.default_value = "5%"}),
         new_file_option(options.output)},
        format_options(options.present.format, formats, "ndjson: one line per change"),
        origins_option(options.present),
        percentiles_option(options.present),
        color_option(options.present.color),
    });
    return command;
}

}  // namespace stapgen::cli
