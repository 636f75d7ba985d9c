// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "show/document.h"
#include "show/text/sections.h"
#include "table/texts.h"

namespace stapgen::between {

namespace {

using show::Cell, show::Kind, table::duration_text;

std::string where_text(const Part& part, const Result& result) {
    if (part.where == "client") return result.client;
    if (part.where == "server") return result.server;
    return part.where == "between" ? "between the hosts" : "rest of the reply";
}

/// No "-0".
long whole_percent(double part) {
    return std::lround(part * 100);
}

/// Where one place has half of the time, of all requests or of the slow ones.
std::string answer_text(const Result& result) {
    constexpr double half = 0.5;
    const auto place = [&](const Part& part) {
        if (part.where == "client") return "at " + result.client;
        if (part.where == "server") return "at " + result.server;
        return std::string(part.where == "between" ? "between the hosts" : "in the rest of the reply");
    };
    std::string text;
    for (const auto& part : result.parts)
        if (part.share >= half)
            text = fmt::format("Most of the time of all requests is {}: {} %", place(part), whole_percent(part.share));
    for (const auto& part : result.parts) {
        if (part.excess.value_or(0) < half) continue;
        text += fmt::format("{}The slowest 1 % ({}) take longer {}: {} % of their extra time", text.empty() ? "" : ". ",
                            base::with_commas(result.slow), place(part), std::min(whole_percent(*part.excess), 100L));
    }
    return text.empty() ? "" : text + '.';
}

Cell time_cell(const std::optional<std::int64_t>& ns) {
    return {ns ? duration_text(*ns) : "-"};
}

void put(std::ostream& out, const std::string& text, const base::Screen& screen) {
    out << base::wrapped(text, screen.width > 0 ? screen.width : base::default_width, 2) << '\n';
}

std::string resent_text(const Result& result) {
    const auto& forth = result.ways.front();
    const auto& back = result.ways.back();
    if (forth.segments + back.segments == 0) return {};
    return fmt::format(
        "between: segments of {} requests were sent again by {}, of {} replies by {}; 'stapgen retransmits' there says "
        "why",
        base::with_commas(forth.resent), result.client, base::with_commas(back.resent), result.server);
}

std::string way_text(const Way& way, std::string_view above) {
    if (!way.p50_ns) return fmt::format("{}: too few requests", way.way);
    auto text = fmt::format("{}: P50 {}", way.way, duration_text(*way.p50_ns));
    if (way.p99_ns) text += fmt::format(", P99 {}", duration_text(*way.p99_ns));
    return text + std::string(above);
}

std::string ways_text(const Result& result) {
    const auto& forth = result.ways.front();
    const auto& back = result.ways.back();
    if (result.one_clock) return fmt::format("{}; {}; by one clock", way_text(forth, ""), way_text(back, ""));
    if (!result.fastest_ns)
        return "which way took longer is not known: one of the clocks was set, or has changed its pace";
    return fmt::format("{}; {}; the fastest together take {}, and how that divides these clocks cannot say",
                       way_text(forth, " above its fastest"), way_text(back, " above its fastest"),
                       duration_text(*result.fastest_ns));
}

std::string clocks_text(const Result& result) {
    if (!result.offset_ns) return {};
    constexpr double ns_per_s = 1e9;
    auto text = fmt::format("clocks: {} is {:.6f} s {} {}, within {}", result.server,
                            std::abs(static_cast<double>(*result.offset_ns)) / ns_per_s,
                            *result.offset_ns < 0 ? "behind" : "ahead of", result.client,
                            duration_text(*result.offset_error_ns));
    constexpr double is_said = 0.05;
    if (std::abs(result.drift_ppm.value_or(0)) >= is_said)
        text += fmt::format(", and drifts by {:.1f} ppm", *result.drift_ppm);
    return text;
}

/// What each host did for most of its part.
std::string inside_text(const Result& result) {
    constexpr double least = 0.1;
    std::vector<std::string> hosts;
    for (const auto& host : {result.client, result.server}) {
        std::vector<std::string> stages;
        for (const auto& stage : result.inside)
            if (stage.host == host && stage.share >= least)
                stages.push_back(fmt::format("{} {} %", stage.stage, whole_percent(stage.share)));
        if (!stages.empty()) hosts.push_back(fmt::format("{} in {}", host, fmt::join(stages, ", ")));
    }
    return hosts.empty() ? "" : fmt::format("inside: {}", fmt::join(hosts, "; "));
}

std::string matched_text(const Result& result) {
    std::vector<std::string> texts;
    if (result.by_difference > 0) {
        texts.push_back(fmt::format("{} by one sequence number, as a box changes the other by a constant (SYNPROXY)",
                                    base::with_commas(result.by_difference)));
    }
    if (result.by_position > 0) {
        texts.push_back(fmt::format("{} by position and addresses, as a box changes both numbers",
                                    base::with_commas(result.by_position)));
    }
    return texts.empty() ? "" : fmt::format("joined: {}", fmt::join(texts, "; "));
}

std::string not_measured_text(const Result& result) {
    std::vector<std::string> hosts;
    for (const auto& host : {result.client, result.server}) {
        std::vector<std::string> causes;
        for (const auto& row : result.not_measured)
            if (row.host == host) causes.push_back(fmt::format("{} {}", base::with_commas(row.count), row.cause));
        if (!causes.empty()) hosts.push_back(fmt::format("{} {}", host, fmt::join(causes, ", ")));
    }
    return hosts.empty() ? "" : fmt::format("not measured: {}", fmt::join(hosts, "; "));
}

std::string not_joined_text(const Result& result) {
    std::vector<std::string> causes;
    const auto add = [&](std::int64_t count, const std::string& what) {
        if (count > 0) causes.push_back(fmt::format("{} {}", base::with_commas(count), what));
    };
    add(result.client_only, fmt::format("not in {}'s recording", result.server));
    add(result.server_only, fmt::format("not in {}'s recording", result.client));
    add(result.ambiguous, "with numbers that others have, too");
    add(result.impossible, "that the server had for longer than the client waited");
    return causes.empty() ? "" : fmt::format("not joined: {}", fmt::join(causes, ", "));
}

void write(std::ostream& out, const Result& result, const base::Screen& screen) {
    put(out,
        fmt::format("{} and {}, {}: {} requests at both ends{}{}", result.client, result.server,
                    duration_text(result.duration_ns), base::with_commas(result.requests),
                    result.seen_as.empty() ? "" : "; ", result.seen_as),
        screen);
    if (const auto answer = answer_text(result); !answer.empty()) put(out, answer, screen);
    show::Table table{"", {{"WHERE", Kind::text}, {"ALL"}, {"SLOW"}, {"MEDIAN"}, {"MEAN"}, {"P99"}}};
    for (const auto& part : result.parts) {
        table.rows.push_back({{where_text(part, result)},
                              {fmt::format("{:.1f}%", part.share * 100)},
                              {part.excess ? fmt::format("{}%", whole_percent(*part.excess)) : "-"},
                              time_cell(part.p50_ns),
                              {duration_text(part.mean_ns)},
                              time_cell(part.p99_ns)});
    }
    out << show::text_of(table, screen);
    if (result.slow > 0) {
        put(out,
            fmt::format("SLOW: share of the extra time of {} requests above {} (p99)", base::with_commas(result.slow),
                        duration_text(*result.threshold_ns)),
            screen);
    }
    if (!result.knows_client)
        put(out, fmt::format("not measured: what {} did inside; its end is a capture of packets", result.client),
            screen);
    for (const auto& text : {inside_text(result), resent_text(result), ways_text(result), clocks_text(result),
                             matched_text(result), not_joined_text(result), not_measured_text(result)})
        if (!text.empty()) put(out, text, screen);
}

}  // namespace

void write_text(std::ostream& out, const Answer& answer, const base::Screen& screen) {
    for (const auto& result : answer.results) {
        if (&result != &answer.results.front()) out << '\n';
        write(out, result, screen);
    }
    for (const auto& text : answer.missing)
        put(out, text, screen);
}

void write_json(std::ostream& out, const Answer& answer) {
    show::put_json(out, show::document("stapgen.between/1", answer), 2);
}

void write_csv(std::ostream& out, const Answer& answer) {
    show::put_csv(out, answer.results);
}

}  // namespace stapgen::between
