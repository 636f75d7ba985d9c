#include "report/presentation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "analyze/analyzer.h"
#include "base/terminal.h"
#include "base/text.h"
#include "report/csv/csv_report.h"
#include "report/html/html_report.h"
#include "report/json/json_report.h"
#include "report/model/account_text.h"
#include "report/model/origin_text.h"
#include "report/openmetrics/openmetrics_report.h"
#include "report/text/text_report.h"

namespace stapgen::report {

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

JsonOptions json_options(const Presentation& presentation, bool one_line) {
    return {.percentiles = presentation.percentiles, .one_line = one_line, .hide_benign = presentation.hide_benign};
}

TextOptions text_options(const Presentation& presentation) {
    return {.percentiles = presentation.percentiles,
            .intervals = !presentation.intervals_shown,
            .max_groups = presentation.top,
            .width = base::terminal_columns(STDOUT_FILENO),
            .slowest = presentation.slowest,
            .series = presentation.series,
            .hide_benign = presentation.hide_benign};
}

/// A trace has no place for it.
void tell_account(const analyze::Summary& report) {
    for (const auto& line : account_lines(report))
        base::tell(line);
    for (const auto& warning : warnings_of(report))
        base::tell("warning: " + warning);
}

}  // namespace

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const auto& [name, format] : formats)
        names.emplace_back(name);
    return names;
}

Format format_named(std::string_view name) {
    return std::ranges::find(formats, name, &std::pair<const char*, Format>::first)->second;
}

std::vector<std::string> fields_of(std::string_view word) {
    const auto known = std::ranges::find(groupings(), word, &Grouping::word);
    return known == groupings().end() ? std::vector{std::string(word)} : known->fields;
}

std::vector<std::string_view> grouping_words() {
    std::vector<std::string_view> words;
    for (const auto& grouping : groupings())
        words.push_back(grouping.word);
    return words;
}

HtmlOptions html_options(const Presentation& presentation, std::span<const analyze::Summary> reports) {
    HtmlOptions options{.percentiles = presentation.percentiles,
                        .max_groups = presentation.top,
                        .hide_benign = presentation.hide_benign};
    for (const auto& report : reports)
        options.origins.push_back(fmt::format("{}", fmt::join(hosts_of(report), " and ")));
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

base::Result<void> check_groups(const Presentation& presentation, const decode::Header& header) {
    const auto analyzer = analyze::Analyzer::create(header, {.group_by = group_fields(presentation, header)});
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
                write_text(out, report, text_options(presentation));
            }
            break;
        case Format::json:
            if (reports.size() == 1) {
                write_json(out, reports.front(), json_options(presentation, false));
                break;
            }
            out << "{\"schema\": \"stapgen.reports/1\", \"reports\": [\n";
            for (const auto& report : reports) {
                if (&report != &reports.front()) out << ',';
                write_json(out, report, json_options(presentation, true));
            }
            out << "]}\n";
            break;
        case Format::ndjson:
            for (const auto& report : reports)
                write_json(out, report, json_options(presentation, true));
            break;
        case Format::csv:
            write_csv(out, reports, {.percentiles = presentation.percentiles, .hide_benign = presentation.hide_benign});
            break;
        case Format::openmetrics:
            write_openmetrics(out, reports, {.max_groups = presentation.top});
            break;
        case Format::html:
            write_html(out, {reports.begin(), reports.end()}, html_options(presentation, reports));
            break;
        case Format::perfetto:
            for (const auto& report : reports)
                tell_account(report);
            break;
    }
    out.flush();
}

void finish(PerfettoWriter& trace) {
    for (const auto& missing : trace.end())
        base::tell(missing);
}

bool shows_intervals(Format format) {
    return format == Format::table || format == Format::ndjson;
}

void present_interval(std::ostream& out, const analyze::Summary& interval, std::int64_t number,
                      const Presentation& presentation) {
    if (presentation.format == Format::ndjson) {
        auto options = json_options(presentation, true);
        options.interval = number;
        write_json(out, interval, options);
    } else if (presentation.format == Format::table) {
        auto options = text_options(presentation);
        options.intervals = true;
        options.series = false;
        options.total = !interval.counts();
        write_text(out, interval, options);
    }
    out.flush();
}

}  // namespace stapgen::report
