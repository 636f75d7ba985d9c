// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/presentation.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyze/results.h"
#include "base/terminal.h"
#include "base/text.h"
#include "decode/group_keys.h"
#include "show/model/hosts.h"
#include "study/why.h"

namespace stapgen::session {

namespace {

/// The word for a group, and the fields it is made of.
struct Grouping {
    std::string_view word;
    std::string_view fields;  ///< a blank between; empty: none
};
constexpr auto groupings = std::to_array<Grouping>({{"process", "pid comm"},
                                                    {"thread", "pid tid comm"},
                                                    {"socket", "local remote"},
                                                    {"port", "port"},
                                                    {"addr", "addr"},
                                                    {"cpu", "cpu"},
                                                    {"device", "dev"},
                                                    {"pod", "container"},
                                                    {"none", ""}});

/// As wide as the terminal.
show::Options fitted(const Presentation& presentation) {
    show::Options options = presentation;
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
            base::words(fields), [&](auto field) { return decode::group_key(schema, field).has_value(); });
        if (are_there) words.emplace_back(word);
    }
    for (const auto& field : schema.fields)
        if (std::ranges::find(words, field.name) == words.end() && decode::group_key(schema, field.name))
            words.push_back(field.name);
    return words;
}

std::vector<std::string> group_fields(const Presentation& presentation, const decode::Header& header) {
    const auto& schema = header.schemas.front();
    std::vector<std::string> fields;
    if (presentation.by) {
        fields = *presentation.by;
        // perf and ftrace know a process by its name only.
        if (!schema.find("pid") && std::ranges::find(fields, "comm") != fields.end()) std::erase(fields, "pid");
        return fields;
    }
    fields = schema.keys();
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
    return decode::check_group_keys(header, group_fields(presentation, header));
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

std::unique_ptr<show::RecordWriter> record_writer(std::ostream& out, const Presentation& presentation, bool events) {
    return events || presentation.format->is_trace ? presentation.format->records(out, fitted(presentation)) : nullptr;
}

void finish(show::RecordWriter& records) {
    for (const auto& missing : records.end())
        base::print_message(missing);
    records.interrupt();
}

namespace {

show::Reports reports_of(std::span<const kinds::Measured> all) {
    return {all.size(),
            [all](std::size_t place, const show::Options& options) { return results_of(all[place], options); }};
}

}  // namespace

rows::Results results_of(const kinds::Measured& measured, const show::Options& options) {
    auto results = analyze::results_of(measured, {options.hide_benign, options.interval});
    study::explain(results);
    return results;
}

void present(std::ostream& out, std::span<const kinds::Measured> reports, const Presentation& presentation,
             std::optional<std::int64_t> interval) {
    auto options = fitted(presentation);
    options.interval = interval;
    const auto& format = *presentation.format;
    (presentation.asks_why ? format.write_whys : format.write)(out, reports_of(reports), options);
    out.flush();
}

void present(std::ostream& out, const show::Hosts& hosts, std::span<const kinds::Measured> reports,
             const Presentation& presentation) {
    const auto& format = *presentation.format;
    const auto options = fitted(presentation);
    if (format.write_hosts != nullptr) {
        format.write_hosts(out, hosts, reports_of(reports), options);
    } else {
        const auto with_hosts = [&](std::size_t place, const show::Options& shown) {
            auto results = results_of(reports[place], shown);
            if (place == 0) results.of<rows::Host>().assign(hosts.rows.begin(), hosts.rows.end());
            return results;
        };
        format.write(out, {reports.size(), with_hosts}, options);
    }
    out.flush();
}

void present(std::ostream& out, std::span<const study::Compared> all, const Presentation& presentation) {
    const auto options = fitted(presentation);
    std::vector<show::Compared> written;
    for (const auto& [comparison, before, after] : all)
        written.emplace_back(comparison, results_of(before, options), results_of(after, options));
    presentation.format->write_comparisons(out, written, options);
    out.flush();
}

}  // namespace stapgen::session
