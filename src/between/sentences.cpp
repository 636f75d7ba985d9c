// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/sentences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/text.h"
#include "table/texts.h"

namespace stapgen::between {

using show::Kind, table::duration_text, table::whole_percent;

namespace {

std::string way_text(const Way& way, std::string_view above) {
    if (!way.p50_ns) return fmt::format("{}: too few requests", way.way);
    auto text = fmt::format("{}: P50 {}", way.way, duration_text(*way.p50_ns));
    if (way.p99_ns) text += fmt::format(", P99 {}", duration_text(*way.p99_ns));
    return text + std::string(above);
}

/// "app1 WHAT, WHAT; db1 WHAT", of the rows that have something to say.
std::string by_host(const Result& result, std::string_view joint, const auto& rows, const auto& text_of) {
    std::vector<std::string> hosts;
    for (const auto& host : {result.client, result.server}) {
        std::vector<std::string> texts;
        for (const auto& row : rows)
            if (auto text = row.host == host ? text_of(row) : std::string(); !text.empty())
                texts.push_back(std::move(text));
        if (!texts.empty()) hosts.push_back(fmt::format("{}{}{}", host, joint, fmt::join(texts, ", ")));
    }
    return fmt::format("{}", fmt::join(hosts, "; "));
}

struct Span {
    std::int64_t begin = end_of_time, end = 0;

    [[nodiscard]] bool overlaps(const Span& other) const { return begin <= other.end && other.begin <= end; }
};

/// When these requests were, by their host's clock.
Span span_of(std::initializer_list<const Side*> sides) {
    Span span;
    for (const auto* side : sides) {
        for (const auto& end : side->ends)
            span = {std::min(span.begin, end.from), std::max(span.end, end.to)};
    }
    return span;
}

}  // namespace

show::Cell time_cell(const std::optional<std::int64_t>& ns) {
    return {ns ? duration_text(*ns) : "-"};
}

std::size_t colour_of(std::string_view where) {
    if (where == "client") return 0;
    if (where == "server") return 2;
    return where == "between" ? 5 : 6;
}

std::string where_text(const Part& part, const Result& result) {
    if (part.where == "client") return result.client;
    if (part.where == "server") return result.server;
    return part.where == "between" ? "between the hosts" : "rest of the reply";
}

std::string answer_text(const Result& result) {
    constexpr double half = 0.5;
    const auto place = [&](const Part& part) {
        const auto* before = part.where == "between" ? "" : part.where == "reply" ? "in the " : "at ";
        return before + where_text(part, result);
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

std::string resent_text(const Result& result) {
    const auto& forth = result.ways.front();
    const auto& back = result.ways.back();
    if (forth.segments + back.segments == 0) return {};
    return fmt::format(
        "segments of {} requests were sent again by {}, of {} replies by {}; 'stapgen retransmits' there says "
        "why",
        base::with_commas(forth.resent), result.client, base::with_commas(back.resent), result.server);
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
    auto text = fmt::format(
        "{} is {:.6f} s {} {}, within {}", result.server, std::abs(static_cast<double>(*result.offset_ns)) / ns_per_s,
        *result.offset_ns < 0 ? "behind" : "ahead of", result.client, duration_text(*result.offset_error_ns));
    constexpr double least = 0.05;
    const auto drift = std::abs(result.drift_ppm.value_or(0)), error = result.drift_error_ppm.value_or(0);
    if (drift >= least && drift > error) {
        text += fmt::format(", and drifts by {:.1f} ppm", *result.drift_ppm);
        if (error >= least) text += fmt::format(", within {:.1f}", error);
    }
    return text;
}

std::string inside_text(const Result& result) {
    constexpr double least = 0.1;
    return by_host(result, " in ", result.inside, [](const Inside& row) {
        return row.share < least ? "" : fmt::format("{} {} %", row.stage, whole_percent(row.share));
    });
}

namespace {

std::string times_text(std::int64_t times) {
    if (times == 1) return "once";
    return times == 2 ? "twice" : fmt::format("{} times", base::with_commas(times));
}

/// " (38 ms at db1, 2 ms between)".
std::string there_text(const std::string& server, std::int64_t questions, std::int64_t joined, double served_ns,
                       double between_ns) {
    if (joined == 0) return " (in no recording of its server)";
    return fmt::format(" ({} at {}, {} between{})", duration_text(served_ns), server, duration_text(between_ns),
                       joined == questions ? ""
                                           : fmt::format("; of {} of the {} questions", base::with_commas(joined),
                                                         base::with_commas(questions)));
}

}  // namespace

std::string behind_text(const Result& result) {
    if (!result.rest_ns || result.requests == 0) return {};
    std::vector<std::string> texts;
    for (const auto& row : result.behind) {
        const auto requests = static_cast<double>(row.requests), joined = static_cast<double>(row.joined);
        texts.push_back(fmt::format("{} {:.1f} times for each of {} requests: {}{}", row.server,
                                    static_cast<double>(row.questions) / requests, base::with_commas(row.requests),
                                    duration_text(row.mean_ns),
                                    there_text(row.server, row.questions, row.joined, row.served_ns * joined / requests,
                                               row.between_ns * joined / requests)));
    }
    const auto requests = static_cast<double>(result.requests);
    return fmt::format(
        "{} asked {}; the rest of its {} is {}, on average", result.server,
        texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", ")),
        duration_text((static_cast<double>(*result.behind_ns) + static_cast<double>(*result.rest_ns)) / requests),
        duration_text(static_cast<double>(*result.rest_ns) / requests));
}

std::string not_placed_text(const Result& result) {
    std::vector<std::string> texts;
    for (const auto& [host, cause, count] : result.not_placed)
        texts.push_back(fmt::format("{} {}", base::with_commas(count), cause));
    if (texts.empty()) return {};
    return fmt::format("questions of {}: {}", result.server, fmt::join(texts, ", "));
}

std::string chain_text(const Request& request, const Result& result) {
    if (request.chain.empty()) return {};
    auto text = fmt::format("{} asks {}: {}", result.client, result.server, duration_text(request.total_ns));
    for (const auto& link : request.chain) {
        const auto& [depth, host, server, questions, waiting, joined, between, served] = link;
        text += fmt::format(
            "; in that {} asked {} {}: {}{}", host, server, times_text(questions), duration_text(waiting),
            there_text(server, questions, joined, static_cast<double>(served), static_cast<double>(between)));
    }
    return text;
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
    return fmt::format("{}", fmt::join(texts, "; "));
}

std::string not_measured_text(const Result& result) {
    return by_host(result, " ", result.not_measured, [](const NotMeasured& row) {
        return fmt::format("{} {}", base::with_commas(row.count), row.cause);
    });
}

std::vector<NotJoined> not_joined(const Result& result) {
    std::vector<NotJoined> causes;
    const auto add = [&](std::int64_t count, std::string cause) {
        if (count > 0) causes.push_back({count, std::move(cause)});
    };
    add(result.client_only, fmt::format("not in {}'s recording", result.server));
    add(result.server_only, fmt::format("not in {}'s recording", result.client));
    add(result.ambiguous, "with numbers that others have, too");
    add(result.impossible, "that the server had for longer than the client waited");
    return causes;
}

std::string not_joined_text(const Result& result) {
    std::vector<std::string> causes;
    for (const auto& [count, cause] : not_joined(result))
        causes.push_back(fmt::format("{} {}", base::with_commas(count), cause));
    return fmt::format("{}", fmt::join(causes, ", "));
}

std::string capture_text(const Result& result) {
    if (result.knows_client) return {};
    return fmt::format("what {} did inside; its end is a capture of packets", result.client);
}

std::string hosts_text(const Result& result) {
    return fmt::format("{} and {}", result.client, result.server);
}

std::string found_text(const Result& result) {
    return fmt::format("{}: {} requests at both ends{}{}", duration_text(result.duration_ns),
                       base::with_commas(result.requests), result.seen_as.empty() ? "" : "; ", result.seen_as);
}

std::string slow_text(const Result& result) {
    if (result.slow == 0) return {};
    return fmt::format("SLOW: share of the extra time of {} requests above {} (p99)", base::with_commas(result.slow),
                       duration_text(*result.threshold_ns));
}

show::Table parts_table(const Result& result) {
    show::Table table{slow_text(result), {{"WHERE", Kind::head}, {"ALL"}, {"SLOW"}, {"MEDIAN"}, {"MEAN"}, {"P99"}}};
    for (const auto& part : result.parts) {
        table.rows.push_back({{.text = where_text(part, result), .colour = colour_of(part.where)},
                              {fmt::format("{:.1f}%", part.share * 100)},
                              {part.excess ? fmt::format("{}%", whole_percent(*part.excess)) : "-"},
                              time_cell(part.p50_ns),
                              {duration_text(part.mean_ns)},
                              time_cell(part.p99_ns)});
    }
    return table;
}

std::string not_found_text(const std::vector<Host>& hosts, const Host& client) {
    const auto requests = fmt::format("of {}'s {} requests none is in ", client.name,
                                      client.client.ends.size() + client.capture.ends.size());
    if (hosts.size() == 1) return requests + "it as its server has it: give the server's recording, too";
    const auto span = span_of({&client.client, &client.capture});
    bool has_servers = false, is_at_same_time = false;
    for (const auto& host : hosts) {
        const auto other = span_of({&host.server, &host.capture});
        if (&host == &client || other.end == 0) continue;
        has_servers = true;
        is_at_same_time = is_at_same_time || span.overlaps(other);
    }
    return fmt::format(
        "{}another recording: does a proxy end the connections? It is a client and a server: record it, too{}",
        requests,
        has_servers && !is_at_same_time ? ". Or start both earlier: by the hosts' clocks, which may differ, no "
                                          "server's recording is of the same time"
                                        : "");
}

}  // namespace stapgen::between
