// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"
#include "show/document.h"

namespace stapgen::bundle {

namespace {

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
    return fmt::format("{}:{}", place.path(), place.line);
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

/// An evidence, and of what it is one.
struct EvidenceOf {
    std::string kind, name;
    std::optional<Severity> severity;
    std::optional<bool> now;
    std::string percent, percent_of;
    Seen seen;

    static constexpr About about{.name = "evidence"};
    static constexpr void columns(auto&& column) {
        column(Key(), "kind", &EvidenceOf::kind);
        column(Key(), "name", &EvidenceOf::name);
        column(Separate(), "severity", &EvidenceOf::severity);
        column(Separate(), "now", &EvidenceOf::now);
        column(Separate(), "percent", &EvidenceOf::percent);
        column(Separate(), "percent_of", &EvidenceOf::percent_of);
        column(Separate(), "seen", &EvidenceOf::seen);
    }
};

/// What became of an archive's files.
struct Files {
    std::int64_t all = 0, read = 0, empty = 0, unknown = 0, unreadable = 0, passed_over = 0;
    bool cut_short = false;
    std::optional<std::int64_t> left_out{};

    static constexpr About about{.name = "files", .shape = Shape::record};
    static constexpr void columns(auto&& column) {
        column(Separate(), "all", &Files::all);
        column(Separate(), "read", &Files::read);
        column(Separate(), "empty", &Files::empty);
        column(Separate(), "unknown", &Files::unknown);
        column(Separate(), "unreadable", &Files::unreadable);
        column(Separate(), "passed_over", &Files::passed_over);
        column(Separate(), "cut_short", &Files::cut_short);
        column(Separate(), "left_out", &Files::left_out, Shown{.is_rare = true});
    }
};

Files files_of(const Evidence& evidence) {
    const auto& walked = evidence.walked;
    return {walked.files,      evidence.read,
            evidence.empty,    evidence.unknown,
            walked.unreadable, walked.passed_over,
            walked.cut_short,  evidence.left_out > 0 ? std::optional(evidence.left_out) : std::nullopt};
}

std::vector<std::string> shown_of(std::vector<std::string> texts) {
    for (auto& text : texts)
        text = base::printable(text);
    return texts;
}

/// As JSON has it.
struct Written : Report {
    static constexpr About about{.name = "report", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Key(), "archive", [](const Written& row) { return base::printable(row.archive); });
        column(Separate(), Known("release"), [](const Written& row) { return base::printable(row.evidence->release); });
        column(Separate(), "uptime_s", [](const Written& row) { return row.evidence->uptime_s; });
        column(Separate(), "since",
               [](const Written& row) { return std::string(row.before == nullptr ? "boot" : "archive"); });
        column(
            Separate(), Known("fallen"), [](const Written& row) { return base::printable(row.fallen); },
            Shown{.is_rare = true});
        column(Separate(), "findings", &Written::findings);
        column(Separate(), "losses", &Written::losses);
        column(Separate(), "more_losses", &Written::more_losses, Shown{.is_rare = true});
        column(Separate(), "conflicts", [](const Written& row) { return row.evidence->conflicts; });
        column(Separate(), "results", [](const Written& row) { return shown_of(row.evidence->results); });
        column(Separate(), Known("refused_names"),
               [](const Written& row) { return base::printable(row.evidence->refused_names); });
        column(Separate(), "files", [](const Written& row) { return files_of(*row.evidence); });
        column(Separate(), "damaged", [](const Written& row) { return shown_of(row.evidence->walked.damaged); });
    }
};

/// The first of it, and how much is not, as `size` may be that of all evidence.
void bound(std::vector<Seen>& seen, std::optional<std::int64_t>& more, std::size_t& size) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        size += seen[i].what.size() + seen[i].place.file->size() + seen[i].text.size();
        if (size > max_json && kept > 0) continue;
        if (kept != i) seen[kept] = std::move(seen[i]);
        ++kept;
    }
    if (kept < seen.size()) more = static_cast<std::int64_t>(seen.size() - kept);
    seen.resize(kept);
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
    std::vector<EvidenceOf> rows;
    for (const auto& finding : report.findings) {
        for (const auto& one : finding.seen)
            rows.push_back({"finding", finding.rule->name, finding.severity, finding.now,
                            finding.percent ? fmt::format("{}", *finding.percent) : "", finding.percent_of, one});
    }
    for (const auto& loss : report.losses) {
        for (const auto& one : loss.seen)
            rows.push_back({"loss", loss.counter, {}, {}, {}, {}, one});
    }
    show::put_csv(out, rows);
}

void write_json(Report report, std::ostream& out) {
    std::size_t size = 0;
    for (auto& finding : report.findings)
        bound(finding.seen, finding.more, size);
    std::vector<Loss> losses;
    for (auto& loss : report.losses) {
        size += loss.counter.size() + loss.meaning.size();
        if (size > max_json) continue;
        bound(loss.seen, loss.more, size);
        losses.push_back(std::move(loss));
    }
    if (losses.size() < report.losses.size())
        report.more_losses = static_cast<std::int64_t>(report.losses.size() - losses.size());
    report.losses = std::move(losses);
    show::put_json(out, show::document("stapgen.findings/1", Written{std::move(report)}), -1);
}

}  // namespace stapgen::bundle
