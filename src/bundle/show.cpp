// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/text.h"
#include "table/texts.h"

namespace stapgen::bundle {

namespace {

using Json = nlohmann::ordered_json;

/// Of each finding, and losses that are none; the rest is counted.
constexpr std::size_t shown_evidence = 5, shown_losses = 30;
/// The limit of all evidence in JSON.
constexpr std::size_t max_json = 8U << 20U;

std::string since(const Report& report) {
    if (report.before != nullptr) return "between the two archives";
    if (!report.evidence->uptime_s) return "since boot";
    const auto seconds = *report.evidence->uptime_s;
    constexpr double hour = 3600, day = 24 * hour;
    if (seconds >= 2 * day) return fmt::format("since boot, {:.0f} days", seconds / day);
    if (seconds >= 2 * hour) return fmt::format("since boot, {:.0f} hours", seconds / hour);
    return fmt::format("since boot, {:.0f} minutes", seconds / 60);
}

std::string number(std::uint64_t value) {
    return base::with_commas(static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX)));
}

std::string place_of(const Place& place) {
    return fmt::format("{}:{}", base::printable(*place.file), place.line);
}

void write_evidence(const std::vector<Seen>& seen, std::ostream& out) {
    for (const auto& one : std::span(seen).first(std::min(seen.size(), shown_evidence))) {
        out << fmt::format("    {:>9}  {}\n               {}\n", number(one.value), base::printable(one.what),
                           place_of(one.place));
        if (!one.text.empty()) out << "               " << one.text << '\n';
    }
    if (seen.size() > shown_evidence) out << fmt::format("    and {} more\n", seen.size() - shown_evidence);
}

void write_finding(const Finding& finding, const Report& report, std::size_t width, std::ostream& out) {
    const auto& rule = *finding.rule;
    auto title = fmt::format("{}{}: {}", name_of(finding.severity), finding.now ? ", now" : "", rule.name);
    if (finding.sum > 0) title += fmt::format(", {} {}", number(finding.sum), since(report));
    if (finding.percent)
        title += fmt::format(" ({:.3g} % of {})", *finding.percent, base::printable(finding.percent_of));
    out << '\n' << title << '\n';
    const auto say = [&](std::string_view text) { out << base::fitted(fmt::format("  {}", text), width, 0) << '\n'; };
    say(finding.means);
    write_evidence(finding.seen, out);
    say(rule.advice);
    if (!rule.command.empty()) out << "  on the host: " << rule.command << '\n';
}

void write_losses(const Report& report, std::size_t width, std::ostream& out) {
    if (report.losses.empty()) return;
    out << (report.before == nullptr ? "\nOther counters of losses, worst first:\n"
                                     : "\nOther counters of losses that rose, worst first:\n");
    for (const auto& loss : std::span(report.losses).first(std::min(report.losses.size(), shown_losses))) {
        write_evidence(loss.seen, out);
        out << base::fitted(fmt::format("               {}", loss.meaning), width, 0) << '\n';
    }
    if (report.losses.size() > shown_losses)
        out << fmt::format("    and {} more: --json\n", report.losses.size() - shown_losses);
}

std::string counters_of_losses(const Report& report) {
    const auto count = report.losses.size();
    return fmt::format(": no finding; {} counter{} of losses {}\n", count, count == 1 ? "" : "s",
                       report.before != nullptr ? "rose" : "above 0");
}

/// What is in it of the evidence, and how much is not, as `size` may be that of the whole document.
void put_evidence(Json& row, const std::vector<Seen>& seen, std::size_t& size) {
    row["evidence"] = Json::array();
    std::int64_t left = 0;
    for (const auto& one : seen) {
        size += one.what.size() + one.place.file->size() + one.text.size();
        if (size > max_json && !row["evidence"].empty()) {
            ++left;
            continue;
        }
        Json evidence{{"what", base::printable(one.what)},
                      {"value", one.value},
                      {"file", base::printable(*one.place.file)},
                      {"line", one.place.line}};
        evidence["text"] = one.text.empty() ? Json() : Json(one.text);
        row["evidence"].push_back(std::move(evidence));
    }
    if (left > 0) row["more"] = left;
}

}  // namespace

void write_text(const Report& report, std::size_t width, std::ostream& out) {
    const auto& evidence = *report.evidence;
    const auto& walked = evidence.walked;
    out << base::printable(report.archive);
    if (!evidence.release.empty()) out << ", Linux " << base::printable(evidence.release);
    const auto count = report.findings.size();
    out << (count == 0 && !report.losses.empty()      ? counters_of_losses(report)
            : count == 0 && !evidence.results.empty() ? ": no finding by its counters and logs\n"
            : count == 0                              ? ": nothing in it points to lost or late packets\n"
            : count == 1                              ? ": 1 finding\n"
                                                      : fmt::format(": {} findings, worst first\n", count));
    for (const auto& finding : report.findings)
        write_finding(finding, report, width, out);
    write_losses(report, width, out);
    out << '\n';
    const auto say = [&](const std::string& text) { out << base::fitted(text, width, 2) << '\n'; };
    if (!report.fallen.empty()) {
        say(
            fmt::format("The archives are of two hosts, or the host was booted between them ({}): counters are those "
                        "since boot.",
                        base::printable(report.fallen)));
    } else if (report.before == nullptr && count + report.losses.size() > 0 && !evidence.counters.empty()) {
        say("Counters count since boot: the losses may be long ago. 'stapgen report OLDER NEWER', two archives of one "
            "host, says what rose between them.");
    }
    for (const auto& conflict : evidence.conflicts) {
        say(fmt::format("{}: {} says {}, but {} says {}", conflict.what, place_of(conflict.first_place), conflict.first,
                        place_of(conflict.second_place), conflict.second));
    }
    say(
        fmt::format("Files: {} = {} read + {} known but with nothing to read + {} not known + {} unreadable; {} links "
                    "and devices passed over.",
                    number(static_cast<std::uint64_t>(walked.files)), evidence.read, evidence.empty, evidence.unknown,
                    walked.unreadable, walked.passed_over));
    if (evidence.left_out > 0)
        say(fmt::format("Left out: {} counters and settings, for which there was no room.", evidence.left_out));
    if (!evidence.refused_names.empty())
        say(fmt::format("Addresses have no names: {}", base::printable(evidence.refused_names)));
    if (walked.cut_short) say("The archive ends in the middle: it is read up to there.");
    for (const auto& path : evidence.results)
        say(fmt::format("Drops or a recording, reported below: {}", base::printable(path)));
    for (const auto& damaged : walked.damaged)
        say(fmt::format("not read: {}", base::printable(damaged)));
}

void write_csv(const Report& report, std::ostream& out) {
    out << "kind,name,severity,now,percent,percent_of,what,value,file,line,text\n";
    const auto write = [&](const std::string& begin, const std::vector<Seen>& seen) {
        for (const auto& one : seen) {
            out << begin << ',' << table::csv_cell(one.what) << ',' << one.value << ','
                << table::csv_cell(*one.place.file) << ',' << one.place.line << ',' << table::csv_cell(one.text)
                << '\n';
        }
    };
    for (const auto& finding : report.findings) {
        const auto percent = finding.percent ? fmt::format("{}", *finding.percent) : "";
        write(fmt::format("finding,{},{},{},{},{}", finding.rule->name, name_of(finding.severity), finding.now, percent,
                          table::csv_cell(finding.percent_of)),
              finding.seen);
    }
    for (const auto& loss : report.losses)
        write(fmt::format("loss,{},,,,", table::csv_cell(loss.counter)), loss.seen);
}

void write_json(const Report& report, std::ostream& out) {
    const auto& evidence = *report.evidence;
    const auto& walked = evidence.walked;
    Json json{{"schema", "stapgen.findings/1"}, {"archive", base::printable(report.archive)}};
    json["release"] = evidence.release.empty() ? Json() : Json(base::printable(evidence.release));
    json["uptime_s"] = evidence.uptime_s ? Json(*evidence.uptime_s) : Json();
    json["since"] = report.before == nullptr ? "boot" : "archive";
    if (!report.fallen.empty()) json["fallen"] = base::printable(report.fallen);
    json["findings"] = Json::array();
    std::size_t size = 0;
    for (const auto& finding : report.findings) {
        const auto& rule = *finding.rule;
        Json row{{"name", rule.name},
                 {"severity", name_of(finding.severity)},
                 {"now", finding.now},
                 {"means", finding.means},
                 {"advice", rule.advice}};
        row["command"] = rule.command.empty() ? Json() : Json(rule.command);
        row["count"] = finding.sum;
        row["percent"] = finding.percent ? Json(*finding.percent) : Json();
        row["percent_of"] = finding.percent ? Json(base::printable(finding.percent_of)) : Json();
        put_evidence(row, finding.seen, size);
        json["findings"].push_back(std::move(row));
    }
    json["losses"] = Json::array();
    std::int64_t more = 0;
    for (const auto& loss : report.losses) {
        size += loss.counter.size() + loss.meaning.size();
        if (size > max_json) {
            ++more;
            continue;
        }
        Json row{{"counter", base::printable(loss.counter)},
                 {"by_name", loss.by_name},
                 {"meaning", loss.meaning},
                 {"count", loss.sum}};
        put_evidence(row, loss.seen, size);
        json["losses"].push_back(std::move(row));
    }
    if (more > 0) json["more_losses"] = more;
    json["conflicts"] = Json::array();
    for (const auto& conflict : evidence.conflicts) {
        json["conflicts"].push_back({{"what", conflict.what},
                                     {"first", base::printable(conflict.first)},
                                     {"first_file", base::printable(*conflict.first_place.file)},
                                     {"second", base::printable(conflict.second)},
                                     {"second_file", base::printable(*conflict.second_place.file)}});
    }
    json["results"] = Json::array();
    for (const auto& path : evidence.results)
        json["results"].push_back(base::printable(path));
    json["refused_names"] = evidence.refused_names.empty() ? Json() : Json(base::printable(evidence.refused_names));
    json["files"] = {
        {"all", walked.files},          {"read", evidence.read},           {"empty", evidence.empty},
        {"unknown", evidence.unknown},  {"unreadable", walked.unreadable}, {"passed_over", walked.passed_over},
        {"cut_short", walked.cut_short}};
    if (evidence.left_out > 0) json["files"]["left_out"] = evidence.left_out;
    json["damaged"] = Json::array();
    for (const auto& damaged : walked.damaged)
        json["damaged"].push_back(base::printable(damaged));
    out << json.dump() << '\n';
}

}  // namespace stapgen::bundle
