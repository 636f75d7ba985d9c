// SPDX-License-Identifier: GPL-2.0-or-later
#include "between/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "between/sentences.h"
#include "show/html/html_scale.h"
#include "table/texts.h"

namespace stapgen::between {

namespace {

using show::Kind, show::Table, table::duration_text, table::local_time_of_day;
namespace html = show::html;

void put(std::vector<std::string>& to, std::initializer_list<std::string> texts) {
    std::ranges::copy_if(texts, std::back_inserter(to), [](const std::string& text) { return !text.empty(); });
}

/// A bar of all parts. Those below nothing are in its legend only.
html::Stack stack_of(const Result& result, std::string label, std::string text, const auto& share_of) {
    html::Stack stack{.label = std::move(label), .text = std::move(text)};
    constexpr double least = 0.0005;
    double sum = 0;
    for (const auto& part : result.parts)
        sum += std::max(share_of(part), 0.0);
    for (const auto& part : result.parts) {
        const auto share = share_of(part);
        const auto where = where_text(part, result);
        const html::Segment segment{fmt::format("{} {}", where, table::percent(share)), share / sum,
                                    colour_of(part.where), where};
        if (share >= least) stack.segments.push_back(segment);
        if (std::abs(share) >= least) stack.legend.push_back(segment);
    }
    return stack;
}

html::Section parts_section(const Result& result) {
    html::Section section{"parts", "Where the time is"};
    double mean = 0;
    for (const auto& part : result.parts)
        mean += part.mean_ns;
    section.stacks.push_back(stack_of(result, "all", fmt::format("{} on average", duration_text(mean)),
                                      [](const Part& part) { return part.share; }));
    if (std::ranges::any_of(result.parts, [](const Part& part) { return part.excess.has_value(); })) {
        section.stacks.push_back(stack_of(result, "slow",
                                          fmt::format("extra time of {}", base::with_commas(result.slow)),
                                          [](const Part& part) { return part.excess.value_or(0); }));
    }
    section.paragraphs = {
        "Between the hosts are both hosts' queueing disciplines, cards, interrupts and GRO, the wire, and all boxes on "
        "the way."};
    section.tables.push_back(parts_table(result));
    if (section.tables.back().caption.empty()) section.tables.back().caption = "Of all requests";
    return section;
}

/// A request's steps in order of time.
class Bar {
  public:
    Bar(const Request& request, const Result& result, double longest) : longest_(longest) {
        add("ask", "client", {{request.ask_ns.value_or(0)}});
        if (request.forth_ns) {
            const auto [forth, back, earlier, later] = placed(request, result);
            const auto sure = std::max<std::int64_t>(0, request.server_ns - earlier - later);
            add("forth", "between", {{forth - earlier}, {earlier, true}});
            if (sure > 0) {
                add(result.server, "server", {{later, true}, {sure}, {earlier, true}});
            } else {
                add(result.server, "server", {{request.server_ns, earlier + later > 0}});
            }
            add("back", "between", {{later, true}, {back - later}});
        } else {
            add("both ways", "between", {{request.between_ns, true}});
            add(result.server, "server", {{request.server_ns, true}});
        }
        add("reply", "reply", {{request.reply_ns}});
        add("read", "client", {{request.read_ns.value_or(0)}});
    }

    std::vector<html::Segment> segments{};
    std::string largest{};  ///< of its steps: "forth 225 ms"

  private:
    struct Piece {
        std::int64_t ns = 0;
        bool uncertain = false;  ///< it may be the step's before or behind it
    };
    void add(const std::string& name, std::string_view where, std::initializer_list<Piece> pieces) {
        const auto* widest = std::ranges::max_element(pieces, {}, &Piece::ns);
        std::int64_t whole = 0;
        for (const auto& piece : pieces)
            whole += piece.ns;
        const auto text = fmt::format("{} {}", name, duration_text(whole));
        for (const auto& piece : pieces) {
            if (piece.ns <= 0) continue;
            segments.push_back({text, static_cast<double>(piece.ns) / longest_, colour_of(where),
                                &piece == widest ? name : "", piece.uncertain});
        }
        if (whole > most_) {
            most_ = whole;
            largest = text;
        }
    }

    double longest_;
    std::int64_t most_ = 0;
};

/// A column for each step that one of them has.
Table slowest_table(const Result& result) {
    Table table{fmt::format("The slowest {}, in microseconds", result.slowest.size()),
                {{"#"}, {"BEGAN", Kind::text}, {"TOTAL"}}};
    table.folded = true;
    std::vector<std::optional<std::int64_t> (*)(const Request&)> steps;
    const auto add = [&](std::string name, auto ns) {
        if (std::ranges::none_of(result.slowest, [&](const Request& request) { return ns(request).value_or(0) > 0; }))
            return;
        table.columns.push_back({std::move(name)});
        steps.push_back(ns);
    };
    add("ASK", [](const Request& request) { return request.ask_ns; });
    add("BETWEEN", [](const Request& request) { return std::optional(request.between_ns); });
    add("FORTH", [](const Request& request) { return request.forth_ns; });
    add("BACK", [](const Request& request) { return request.back_ns; });
    add("SERVER", [](const Request& request) { return std::optional(request.server_ns); });
    add("REPLY", [](const Request& request) { return std::optional(request.reply_ns); });
    add("READ", [](const Request& request) { return request.read_ns; });
    table.columns.push_back({"FROM", Kind::text});
    table.columns.push_back({"TO", Kind::text});
    const table::Style style;
    for (const auto& request : result.slowest) {
        auto& row = table.rows.emplace_back();
        row = {{fmt::format("{}", table.rows.size())},
               {local_time_of_day(request.start_ns)},
               {style.cell(request.total_ns)}};
        for (const auto& ns : steps)
            row.push_back({style.cell(ns(request))});
        row.push_back({request.client});
        row.push_back({request.server});
    }
    return table;
}

html::Section slowest_section(const Result& result) {
    html::Section section{"slowest", "The slowest requests"};
    std::int64_t longest = 1;
    for (const auto& request : result.slowest)
        longest = std::max(longest, request.total_ns);
    auto& timelines = section.timelines.emplace_back();
    timelines.scale = html::linear_ticks(longest, true);
    for (const auto& request : result.slowest) {
        Bar bar(request, result, static_cast<double>(longest));
        timelines.rows.push_back(
            {fmt::format("#{} {}", timelines.rows.size() + 1, duration_text(request.total_ns)),
             fmt::format("{}{}{}; {}{}{}", local_time_of_day(request.start_ns), request.client.empty() ? "" : ", ",
                         request.client, bar.largest, request.chain.empty() ? "" : "; ", chain_text(request, result)),
             std::move(bar.segments)});
    }
    for (const auto& part : result.parts)
        section.legend.push_back({where_text(part, result), 0, colour_of(part.where)});
    const auto is_uncertain = [](const html::Stack& row) {
        return std::ranges::any_of(row.segments, &html::Segment::uncertain);
    };
    if (std::ranges::any_of(timelines.rows, is_uncertain))
        section.legend.push_back({"may be earlier or later", 0, std::nullopt, {}, true});
    std::string text = result.knows_client ? "Each begins with its send call, and ends when its reply has been read."
                                           : "Each begins when its last byte leaves, and ends when its reply has come.";
    if (!result.fastest_ns && !result.one_clock) {
        text +=
            fmt::format(" When {} had it is not known: all time between the hosts is drawn before that, in one piece.",
                        result.server);
    } else if (result.offset_error_ns.value_or(0) > 0) {
        text += fmt::format(" When {} had it is known within {}: what is hatched may be as much earlier or later.",
                            result.server, duration_text(*result.offset_error_ns));
    }
    section.paragraphs = {std::move(text)};
    section.tables.push_back(slowest_table(result));
    return section;
}

html::Section ways_section(const Result& result) {
    html::Section section{"ways", "Forth and back"};
    put(section.paragraphs, {ways_text(result), resent_text(result)});
    Table ways{result.one_clock ? "By one clock" : "Above the fastest",
               {{"WAY", Kind::head}, {"MEDIAN"}, {"P99"}, {"REQUESTS SENT AGAIN"}, {"SEGMENTS"}}};
    for (const auto& way : result.ways) {
        ways.rows.push_back({{way.way},
                             time_cell(way.p50_ns),
                             time_cell(way.p99_ns),
                             {base::with_commas(way.resent)},
                             {base::with_commas(way.segments)}});
    }
    section.tables.push_back(std::move(ways));
    return section;
}

show::Cell ppm_cell(const std::optional<double>& ppm) {
    return {ppm ? fmt::format("{:.3f}", *ppm) : "-"};
}

html::Section clocks_section(const Result& result) {
    html::Section section{"clocks", "Clocks"};
    section.paragraphs = {clocks_text(result),
                          "No packet arrives before it was sent: the fastest ones bound the difference."};
    section.tables.push_back({fmt::format("{}'s clock minus {}'s", result.server, result.client),
                              {{"OFFSET [ns]"}, {"WITHIN"}, {"DRIFT [ppm]"}, {"WITHIN"}, {"FASTEST FORTH AND BACK"}},
                              {{{fmt::format("{}", *result.offset_ns)},
                                time_cell(result.offset_error_ns),
                                ppm_cell(result.drift_ppm),
                                ppm_cell(result.drift_error_ppm),
                                time_cell(result.fastest_ns)}}});
    return section;
}

/// What the server asked others.
Table behind_table(const Result& result) {
    Table table{fmt::format("{}: what it asked for these requests", result.server),
                {{"SERVER", Kind::head},
                 {"REQUESTS"},
                 {"QUESTIONS"},
                 {"MEAN"},
                 {"FOUND THERE"},
                 {"MEAN THERE"},
                 {"MEAN BETWEEN"},
                 {"SHARE", Kind::text}}};
    const auto colour = colour_of("server");
    const auto mean = [](double ns, std::int64_t n) { return show::Cell{n > 0 ? duration_text(ns) : "-"}; };
    for (const auto& row : result.behind) {
        table.rows.push_back({{row.server},
                              {base::with_commas(row.requests)},
                              {base::with_commas(row.questions)},
                              {duration_text(row.mean_ns)},
                              {base::with_commas(row.joined)},
                              mean(row.served_ns, row.joined),
                              mean(row.between_ns, row.joined),
                              show::bar_cell(row.share, colour)});
    }
    return table;
}

html::Section inside_section(const Result& result) {
    html::Section section{"inside", "What each host did"};
    put(section.paragraphs, {inside_text(result)});
    if (!result.behind.empty()) section.tables.push_back(behind_table(result));
    put(section.paragraphs, {behind_text(result)});
    if (!result.knows_client) section.paragraphs.push_back("Not measured: " + capture_text(result));
    for (const auto& host : {result.client, result.server}) {
        const auto colour = colour_of(host == result.client ? "client" : "server");
        Table table{fmt::format("{}: stages of its part", host),
                    {{"STAGE", Kind::head}, {"REQUESTS"}, {"MEAN"}, {"SHARE", Kind::text}}};
        for (const auto& row : result.inside) {
            if (row.host != host) continue;
            table.rows.push_back({{row.stage},
                                  {base::with_commas(row.n)},
                                  {duration_text(row.mean_ns)},
                                  show::bar_cell(row.share, colour)});
        }
        if (!table.rows.empty()) section.tables.push_back(std::move(table));
    }
    return section;
}

html::Section missing_section(const Result& result) {
    html::Section section{"missing", "Not joined, not measured"};
    Table table{"Requests that are not in this answer", {{"REQUESTS"}, {"HOST", Kind::text}, {"WHY", Kind::text}}};
    for (const auto& [count, cause] : not_joined(result))
        table.rows.push_back({{base::with_commas(count)}, {}, {cause}});
    for (const auto& row : result.not_measured)
        table.rows.push_back({{base::with_commas(row.count)}, {row.host}, {row.cause}});
    for (const auto& row : result.not_placed)
        table.rows.push_back({{base::with_commas(row.count)}, {row.host}, {"asked, " + row.cause}});
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
    return section;
}

html::Run run_of(const Result& result, std::size_t number) {
    html::Run run{fmt::format("r{}", number), hosts_text(result), found_text(result)};
    put(run.sentences, {answer_text(result)});
    if (const auto text = matched_text(result); !text.empty()) run.notes.push_back("joined: " + text);
    run.sections = {parts_section(result), slowest_section(result), ways_section(result)};
    if (result.offset_ns) run.sections.push_back(clocks_section(result));
    for (auto section : {inside_section(result), missing_section(result)})
        if (!section.paragraphs.empty() || !section.tables.empty()) run.sections.push_back(std::move(section));
    return run;
}

}  // namespace

html::Page page_of(const Answer& answer) {
    html::Page page{fmt::format("{} pairs of hosts", answer.results.size()), {}};
    for (const auto& result : answer.results)
        page.runs.push_back(run_of(result, page.runs.size()));
    if (page.runs.empty()) page.runs.push_back({"r0", "No request was found at both ends"});
    if (page.runs.size() == 1) page.title = page.runs.front().heading;
    page.runs.front().warnings = answer.missing;
    return page;
}

void write_html(std::ostream& out, const Answer& answer) {
    html::write(out, page_of(answer));
}

}  // namespace stapgen::between
