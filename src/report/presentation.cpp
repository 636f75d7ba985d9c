// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/presentation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "analyze/analyzer.h"
#include "analyze/groups.h"
#include "base/terminal.h"
#include "base/text.h"
#include "report/html/html_sections.h"
#include "report/text/sections.h"

namespace stapgen::report {

namespace {

/// What people call a group, and the fields it is made of.
struct Grouping {
    std::string_view word;
    std::string_view fields;  ///< a blank between; empty: none
};
constexpr auto groupings = std::to_array<Grouping>({{"process", "pid comm"},
                                                    {"thread", "pid tid comm"},
                                                    {"socket", "local remote"},
                                                    {"port", "port"},
                                                    {"cpu", "cpu"},
                                                    {"device", "dev"},
                                                    {"pod", "container"},
                                                    {"none", ""}});

/// As wide as the terminal.
Options fitted(const Presentation& presentation) {
    Options options = presentation;
    options.screen = base::screen_of(STDOUT_FILENO, presentation.colours);
    return options;
}

}  // namespace

std::vector<std::string> fields_of(std::string_view word) {
    const auto* const known = std::ranges::find(groupings, word, &Grouping::word);
    if (known == groupings.end()) return {std::string(word)};
    const auto fields = base::words(known->fields);
    return {fields.begin(), fields.end()};
}

std::vector<std::string_view> grouping_words() {
    std::vector<std::string_view> words;
    for (const auto& grouping : groupings)
        words.push_back(grouping.word);
    return words;
}

std::vector<std::string> groups_of(const decode::Header& header) {
    const auto& schema = header.schemas.front();
    std::vector<std::string> words;
    for (const auto& [word, fields] : groupings) {
        const auto are_there = std::ranges::all_of(
            base::words(fields), [&](auto field) { return analyze::group_key(schema, field).has_value(); });
        if (are_there) words.emplace_back(word);
    }
    for (const auto& field : schema.fields)
        if (std::ranges::find(words, field.name) == words.end()) words.push_back(field.name);
    return words;
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
    const bool are_drops = std::ranges::any_of(schema.fields, [](const auto& field) {
        return field.type == decode::FieldType::address || field.type == decode::FieldType::place;
    });
    // Drops are by place and reason.
    if (!fields.empty() || are_drops) return fields;
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
    if (presentation.format->is_trace) return fmt::format("--format {}", presentation.format->name);
    return presentation.by && !presentation.by->empty() ? "--by" : "";
}

base::Result<void> check_aggregated(const Presentation& presentation, bool events, const decode::Header& header) {
    const auto option = single_records_option(presentation, events);
    if (!header.aggregated || option.empty()) return {};
    return base::bad_input(
        fmt::format("{}: these records of {} were aggregated in the kernel, so they have durations but no groups",
                    option, base::printable(header.recipe)),
        fmt::format("omit it; or measure again with {}, or with a module built without --aggregate", option));
}

std::unique_ptr<RecordWriter> record_writer(std::ostream& out, const Presentation& presentation, bool events) {
    return events || presentation.format->is_trace ? presentation.format->records(out, fitted(presentation)) : nullptr;
}

void finish(RecordWriter& records) {
    for (const auto& missing : records.end())
        base::print_message(missing);
    records.interrupt();
}

void present(std::ostream& out, std::span<const analyze::Summary> reports, const Presentation& presentation,
             std::optional<std::int64_t> interval) {
    auto options = fitted(presentation);
    options.interval = interval;
    presentation.format->write(out, reports, options);
    out.flush();
}

void present(std::ostream& out, const Hosts& hosts, std::span<const analyze::Summary> reports,
             const Presentation& presentation) {
    if (presentation.format->write_hosts == nullptr) return present(out, reports, presentation);
    presentation.format->write_hosts(out, hosts, reports, fitted(presentation));
    out.flush();
}

void present(std::ostream& out, std::span<const Compared> all, const Presentation& presentation) {
    presentation.format->write_comparisons(out, all, fitted(presentation));
    out.flush();
}

/// Each is at the end of the file that writes it. A new one is such a file, and its name here and below.
extern const Format json_format, ndjson_format, csv_format, openmetrics_format, perfetto_format, folded_format;

std::span<const Format> formats() {
    static const std::array all{table_format,       json_format, ndjson_format,   csv_format,
                                openmetrics_format, html_format, perfetto_format, folded_format};
    return all;
}

const Format& format_named(std::string_view name) {
    return *std::ranges::find(formats(), name, &Format::name);
}

}  // namespace stapgen::report
