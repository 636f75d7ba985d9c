#include "analyze/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "base/text.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/options/option_table.h"
#include "cli/options/plans.h"
#include "report/presentation.h"
#include "session/replay.h"

namespace stapgen::cli {

namespace {

/// A folder's files, or a list with commas, unless there is a file of that very name.
std::vector<std::filesystem::path> files_of(const std::string& typed) {
    std::error_code error;
    std::vector<std::filesystem::path> files;
    if (std::filesystem::is_directory(typed, error)) {
        for (const auto& entry : std::filesystem::directory_iterator(typed, error)) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
        std::ranges::sort(files);
        return files;
    }
    if (std::filesystem::exists(typed, error)) return {typed};
    for (const auto name : base::split(typed, ','))
        files.emplace_back(name);
    return files;
}

bool has_durations(const analyze::Summary& summary) {
    return !summary.averages.empty() || (!summary.stages.empty() && !summary.counts());
}

/// A recording for each run; the parts of one run are one.
base::Result<std::vector<analyze::Summary>> load_side(const std::string& typed,
                                                      const report::Presentation& presentation) {
    const auto files = files_of(typed);
    if (files.empty()) {
        return base::bad_input(fmt::format("there are no files in {}", base::printable(typed)), "name another folder");
    }
    auto runs = session::load_runs(files, presentation, {});
    if (!runs) return tl::make_unexpected(runs.error());
    std::vector<analyze::Summary> side;
    for (auto& [name, reports] : *runs) {
        if (std::ranges::any_of(reports, has_durations)) {
            std::erase_if(reports, [](const analyze::Summary& summary) { return !has_durations(summary); });
        }
        if (reports.size() != 1) {
            std::vector<std::string> recipes;
            for (const auto& summary : reports)
                recipes.push_back(base::printable(summary.recipe));
            return base::bad_input(fmt::format("{} holds several recipes: {}", name, fmt::join(recipes, ", ")),
                                   "give a file of one recipe; 'report' shows what is in it");
        }
        side.push_back(std::move(reports.front()));
    }
    return side;
}

/// All recordings of a side as one.
base::Result<analyze::Summary> sum_of(const std::vector<analyze::Summary>& side) {
    auto sum = side.front();
    for (auto other = side.begin() + 1; other != side.end(); ++other) {
        if (auto done = analyze::merge(sum, *other); !done) return tl::make_unexpected(done.error());
    }
    return sum;
}

base::Result<void> compare(const Call& call) {
    const auto& options = call.options;
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    presentation->by.emplace();  // no groups
    const auto before = load_side(options.before, *presentation);
    if (!before) return tl::make_unexpected(before.error());
    const auto after = load_side(options.after, *presentation);
    if (!after) return tl::make_unexpected(after.error());

    const analyze::CompareOptions limits{.percentiles = presentation->percentiles, .threshold = options.threshold};
    const auto comparison = analyze::compare(*before, *after, limits);
    if (!comparison) return tl::make_unexpected(comparison.error());
    const auto first = sum_of(*before), second = sum_of(*after);
    if (!first) return tl::make_unexpected(first.error());
    if (!second) return tl::make_unexpected(second.error());
    presentation->format->write_comparison(std::cout, *comparison, *first, *second, *presentation);
    if (!comparison->has_regression()) return {};
    return tl::make_unexpected(base::Error{
        base::ErrorKind::regression, fmt::format("after is slower by more than {:.4g} %", options.threshold * 100),
        "--threshold sets how much is allowed"});
}

}  // namespace

CommandSpec compare_command(Options& options) {
    std::vector<std::string> formats;
    for (const auto& format : report::formats()) {
        if (format.write_comparison != nullptr) formats.emplace_back(format.name);
    }
    CommandSpec command{compare, "stapgen", "compare", "What became slower or faster between two measurements"};
    command.notes =
        "~ stands where before and after cannot be told apart. Exit code 3: a regression.\n"
        "Several files for a side are recordings of the same, best taken in turns (ABAB); from five for each\n"
        "side on, what differs from recording to recording is in the intervals. docs/reading-the-numbers.md\n";
    command.examples = {"stapgen compare before.rec after.rec",
                        "stapgen compare --threshold 10% -P 50,99 a1.rec,a2.rec b1.rec,b2.rec"};
    command.options = joined({
        {option("before", "BEFORE", groups::arguments,
                "A file that 'report' reads, several with commas between, or a folder of them", "", &options.before,
                {.required = true}),
         option("after", "AFTER", groups::arguments, "The same, of what is compared with it", "", &options.after,
                {.required = true}),
         option("--threshold", "PERCENT", groups::output, "A stage that is slower by more than this is a regression",
                "", read_by(base::parse_percent, options.threshold, false), {.default_value = "5%"})},
        format_options(options.present.format, formats, "ndjson has a line for each change"),
        percentiles_option(options.present),
    });
    return command;
}

}  // namespace stapgen::cli
