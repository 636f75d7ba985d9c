#include "cli/presenting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "analyze/analyzer.h"
#include "base/text.h"
#include "cli/by_origin.h"
#include "cli/on_terminal.h"
#include "cli/option_groups.h"
#include "cli/telling.h"
#include "decode/record_parser.h"
#include "report/account_text.h"
#include "report/csv_report.h"
#include "report/html_report.h"
#include "report/json_report.h"
#include "report/openmetrics_report.h"
#include "report/origin_text.h"
#include "report/text_report.h"

namespace stapgen::cli {

namespace {

constexpr std::array formats{std::pair{"table", Format::table},
                             std::pair{"json", Format::json},
                             std::pair{"ndjson", Format::ndjson},
                             std::pair{"csv", Format::csv},
                             std::pair{"openmetrics", Format::openmetrics},
                             std::pair{"html", Format::html},
                             std::pair{"perfetto", Format::perfetto}};

/// What people call a group, and the fields it is made of. "none" is made of none.
struct Grouping {
    std::string_view word;
    std::vector<std::string> fields;
};

const std::vector<Grouping>& groupings() {
    static const std::vector<Grouping> all{{"process", {"pid", "comm"}},
                                           {"thread", {"pid", "tid", "comm"}},
                                           {"socket", {"local", "remote"}},
                                           {"port", {"port"}},
                                           {"cpu", {"cpu"}},
                                           {"device", {"dev"}},
                                           {"none", {}}};
    return all;
}

std::vector<std::string> fields_of(std::string_view word) {
    const auto known = std::ranges::find(groupings(), word, &Grouping::word);
    return known == groupings().end() ? std::vector{std::string(word)} : known->fields;
}

report::JsonOptions json_options(const Presentation& presentation, bool one_line) {
    return {.percentiles = presentation.percentiles, .one_line = one_line, .hide_benign = presentation.hide_benign};
}

report::TextOptions text_options(const Presentation& presentation) {
    return {.percentiles = presentation.percentiles,
            .intervals = !presentation.intervals_shown,
            .max_groups = presentation.top,
            .width = terminal_columns(STDOUT_FILENO),
            .slowest = presentation.slowest,
            .series = presentation.series,
            .hide_benign = presentation.hide_benign};
}

/// A trace has no place for it.
void tell_account(const analyze::Summary& report) {
    for (const auto& line : report::account_lines(report))
        tell(line);
    for (const auto& warning : report::warnings_of(report))
        tell("warning: " + warning);
}

}  // namespace

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
    auto grouping = grouping_words();
    if (of_files) grouping.insert(grouping.begin(), origin_words.begin(), origin_words.end());
    std::vector<std::string> names;
    for (const auto& [name, format] : formats)
        names.emplace_back(name);
    add_format(command, options.format, names,
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

std::vector<std::string_view> grouping_words() {
    std::vector<std::string_view> words;
    for (const auto& grouping : groupings())
        words.push_back(grouping.word);
    return words;
}

base::Result<Presentation> presentation_of(const PresentOptions& options) {
    Presentation presentation;
    if (!options.percentiles.empty()) {
        auto percentiles = analyze::parse_percentiles(options.percentiles);
        if (!percentiles) return tl::make_unexpected(percentiles.error());
        presentation.percentiles = *std::move(percentiles);
    }
    presentation.format = std::ranges::find(formats, options.format, &std::pair<const char*, Format>::first)->second;
    if (presentation.format == Format::perfetto && ::isatty(STDOUT_FILENO) == 1) {
        return base::bad_input("--format perfetto: a trace is binary, and stdout is a terminal",
                               "write it to a file: stapgen ... > trace.pftrace");
    }
    if (!options.by.empty()) {
        auto& by = presentation.by.emplace();
        for (const auto typed : base::split(options.by, ',')) {
            const auto word = base::trim(typed);
            if (std::ranges::find(origin_words, word) != origin_words.end()) {
                presentation.by_origin.emplace_back(word);
                continue;
            }
            for (auto& field : fields_of(word)) {
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

report::HtmlOptions html_options(const Presentation& presentation, std::span<const analyze::Summary> reports) {
    report::HtmlOptions options{.percentiles = presentation.percentiles,
                                .max_groups = presentation.top,
                                .hide_benign = presentation.hide_benign};
    for (const auto& report : reports)
        options.origins.push_back(fmt::format("{}", fmt::join(report::hosts_of(report), " and ")));
    return options;
}

std::vector<std::string> group_fields(const Presentation& presentation, const decode::Header& header) {
    const auto& schema = header.schemas.front();
    std::vector<std::string> fields;
    if (presentation.by) {
        fields = *presentation.by;
        // Of perf and ftrace the name is all that is known of a process.
        if (!schema.find("pid") && std::ranges::find(fields, "comm") != fields.end()) std::erase(fields, "pid");
        return fields;
    }
    for (const auto& field : schema.fields) {
        if (field.attribute == decode::Attribute::key) fields.push_back(field.name);
    }
    if (!fields.empty()) return fields;
    for (const char* field : {"pid", "tid", "comm"}) {
        if (schema.find(field)) fields.emplace_back(field);
    }
    return fields;
}

base::Result<void> check_groups(const Presentation& presentation, const std::string& header_line) {
    decode::RecordParser parser;
    parser.feed(header_line);
    if (parser.header() == nullptr) return {};
    const auto analyzer =
        analyze::Analyzer::create(*parser.header(), {.group_by = group_fields(presentation, *parser.header())});
    return analyzer ? base::Result<void>() : tl::make_unexpected(analyzer.error());
}

std::string single_records_option(const Presentation& presentation, bool events) {
    if (events) return "--events";
    if (presentation.format == Format::perfetto) return "--format perfetto";
    return presentation.by && !presentation.by->empty() ? "--by" : "";
}

base::Result<void> check_aggregated(const Presentation& presentation, bool events, const decode::Header& header) {
    const auto option = single_records_option(presentation, events);
    if (!header.aggregated || option.empty()) return {};
    return base::bad_input(
        fmt::format("{}: these records of {} were aggregated in the kernel: how many took how long is known, not whose "
                    "they were",
                    option, base::printable(header.recipe)),
        fmt::format("leave it out; or measure again with {}, or with a module that was built without --aggregate",
                    option));
}

void present(std::ostream& out, std::span<const analyze::Summary> reports, const Presentation& presentation) {
    switch (presentation.format) {
        case Format::table:
            for (const auto& report : reports) {
                if (&report != &reports.front()) out << '\n';
                report::write_text(out, report, text_options(presentation));
            }
            break;
        case Format::json:
            if (reports.size() == 1) {
                report::write_json(out, reports.front(), json_options(presentation, false));
                break;
            }
            out << "{\"schema\": \"stapgen.reports/1\", \"reports\": [\n";
            for (const auto& report : reports) {
                if (&report != &reports.front()) out << ',';
                report::write_json(out, report, json_options(presentation, true));
            }
            out << "]}\n";
            break;
        case Format::ndjson:
            for (const auto& report : reports)
                report::write_json(out, report, json_options(presentation, true));
            break;
        case Format::csv:
            report::write_csv(out, reports,
                              {.percentiles = presentation.percentiles, .hide_benign = presentation.hide_benign});
            break;
        case Format::openmetrics:
            report::write_openmetrics(out, reports, {.max_groups = presentation.top});
            break;
        case Format::html:
            report::write_html(out, {reports.begin(), reports.end()}, html_options(presentation, reports));
            break;
        case Format::perfetto:
            for (const auto& report : reports)
                tell_account(report);
            break;
    }
    out.flush();
}

void finish(report::PerfettoWriter& trace) {
    for (const auto& missing : trace.end())
        tell(missing);
}

bool shows_intervals(Format format) {
    return format == Format::table || format == Format::ndjson;
}

void present_interval(std::ostream& out, const analyze::Summary& interval, std::int64_t number,
                      const Presentation& presentation) {
    if (presentation.format == Format::ndjson) {
        auto options = json_options(presentation, true);
        options.interval = number;
        report::write_json(out, interval, options);
    } else if (presentation.format == Format::table) {
        auto options = text_options(presentation);
        options.intervals = true;
        options.series = false;
        options.total = !interval.counts();
        report::write_text(out, interval, options);
    }
    out.flush();
}

}  // namespace stapgen::cli
