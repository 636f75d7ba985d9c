#include "cli/options/report_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <algorithm>

#include "analyze/percentile.h"
#include "base/text.h"
#include "cli/options/option_groups.h"
#include "session/origin_groups.h"

namespace stapgen::cli {

void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& choices,
                const std::string& details) {
    auto* option = command.add_option("--format", format, "How it is written" + details)
                       ->check(CLI::IsMember(choices))
                       ->capture_default_str()
                       ->type_name("FORMAT")
                       ->group(groups::output);
    const std::string json = std::ranges::find(choices, "json") == choices.end() ? "ndjson" : "json";
    command
        .add_flag_callback(
            "-j,--json", [&format, json] { format = json; }, "The same as --format " + json)
        ->excludes(option)
        ->group(groups::output);
}

void add_percentiles(CLI::App& command, std::string& percentiles) {
    command.add_option("-P,--percentiles", percentiles, "Which percentiles, with commas between")
        ->default_str("50,90,99,99.9")
        ->type_name("LIST")
        ->group(groups::more_output);
}

void add_present_options(CLI::App& command, PresentOptions& options, bool of_files) {
    auto grouping = report::grouping_words();
    if (of_files) grouping.insert(grouping.begin(), session::origin_words.begin(), session::origin_words.end());
    std::vector<std::string> formats;
    for (const auto& format : report::formats())
        formats.emplace_back(format.name);
    add_format(command, options.format, formats,
               "; ndjson has a line for each object, html is one page to mail, perfetto a trace for ui.perfetto.dev");
    add_percentiles(command, options.percentiles);
    command
        .add_option(
            "--by", options.by,
            fmt::format("Group by {}process, port, cpu, ...; all of them: {}, or fields of the records, with commas "
                        "between. Without it: thread, or what the recipe says",
                        of_files ? "host, recording, " : "", fmt::join(grouping, ", ")))
        ->type_name(of_files ? "GROUP[,...]" : "WHAT[,...]")
        ->group(groups::output);
    command.add_option("--top", options.top, "Show so many groups, the largest")
        ->capture_default_str()
        ->type_name("N")
        ->group(groups::more_output);
    command.add_option("--slowest", options.slowest, "Show so many of the slowest")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str()
        ->type_name("N")
        ->group(groups::more_output);
    command
        .add_flag("--series", options.series,
                  "The table has a row for each second, too; of a long run for longer blocks")
        ->group(groups::more_output);
    command
        .add_flag("--hide-benign", options.hide_benign,
                  "Drops: no rows of those that are part of normal operation; they are counted all the same")
        ->group(groups::more_output);
}

base::Result<report::Presentation> presentation_of(const PresentOptions& options) {
    report::Presentation presentation;
    if (!options.percentiles.empty()) {
        auto percentiles = analyze::parse_percentiles(options.percentiles);
        if (!percentiles) return tl::make_unexpected(percentiles.error());
        presentation.percentiles = *std::move(percentiles);
    }
    presentation.format = &report::format_named(options.format);
    if (presentation.format->is_trace && ::isatty(STDOUT_FILENO) == 1) {
        return base::bad_input(fmt::format("--format {}: a trace is binary, and stdout is a terminal", options.format),
                               "write it to a file: stapgen ... > trace.pftrace");
    }
    if (!options.by.empty()) {
        auto& by = presentation.by.emplace();
        for (const auto typed : base::split(options.by, ',')) {
            const auto word = base::trim(typed);
            if (std::ranges::find(session::origin_words, word) != session::origin_words.end()) {
                presentation.by_origin.emplace_back(word);
                continue;
            }
            for (auto& field : report::fields_of(word)) {
                if (std::ranges::find(by, field) == by.end()) by.push_back(std::move(field));
            }
        }
    }
    presentation.top = options.top;
    presentation.slowest = options.slowest;
    presentation.series = options.series;
    presentation.hide_benign = options.hide_benign;
    return presentation;
}

}  // namespace stapgen::cli
