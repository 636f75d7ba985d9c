// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "show/html/html_page.h"
#include "show/html/html_sections.h"
#include "show/model/texts.h"

namespace stapgen::show {

namespace {

using html::Page;
using html::Run;
using html::Section;
using rows::Results;

/// Rows of the tables of time series on one page: 100 kB.
constexpr std::size_t max_block_rows = 1024;

void append(std::string& text, const std::string& more) {
    if (!text.empty() && !more.empty()) text += ", ";
    text += more;
}

std::string recipe_of(const Results& results) {
    return results.one<rows::Report>().recipe;
}

std::string facts_of(const Results& results) {
    auto facts = fmt::format("{}", fmt::join(results.sentences.hosts, " and "));
    append(facts, results.sentences.span);
    append(facts, results.sentences.definition);
    return facts;
}

/// The answer: of each direction where its tail comes from.
std::vector<std::string> answers_of(const Results& results) {
    std::vector<std::string> answers;
    for (const auto& tail : results.of<rows::Tail>())
        answers.push_back((tail.way.empty() ? "" : tail.way + ": ") + tail.sentence);
    return answers;
}

void add_section(Run& run, Section section) {
    if (!section.tables.empty() || !section.paragraphs.empty()) run.sections.push_back(std::move(section));
}

/// All of one report. In a comparison its charts are drawn elsewhere.
Run run_of(const Results& results, const Options& options, std::size_t number, std::int64_t block_ns,
           bool with_charts) {
    Run run{.id = fmt::format("r{}", number), .heading = recipe_of(results), .facts = facts_of(results)};
    run.sentences = answers_of(results);
    run.warnings = results.sentences.warnings;
    for (const auto& [note] : results.of<rows::Note>())
        run.notes.push_back(note);
    add_section(run, html::calls_section(results));
    add_section(run, html::stages_section(results, options));
    add_section(run, html::tail_section(results));
    const auto add_charted = [&](Section section) {
        if (with_charts) {
            section.chart_runs = run.id;
        } else {
            section.chart.clear();
        }
        add_section(run, std::move(section));
    };
    add_charted(html::time_section(results, block_ns));
    add_charted(html::distribution_section(results));
    add_section(run, html::slowest_section(results));
    add_section(run, html::who_section(results));
    add_section(run, html::ledger_section(results));
    add_charted(html::drops_section(results));
    add_section(run, html::tallies_section(results));
    add_section(run, html::averages_section(results));
    add_section(run, html::groups_section(results, options));
    add_section(run, html::account_section(results));
    return run;
}

/// A chart of both runs, drawn from the tables further down; of all stages that it can show, the first of `changed`.
Section both(const Section& of_before, Section of_after, const Results& after, const std::vector<std::string>& changed,
             std::vector<html::Plot> plots) {
    if (of_after.chart.empty()) of_after = of_before;
    of_after.tables.clear();
    of_after.tables_name.clear();
    of_after.plots = std::move(plots);
    of_after.chart_runs = "r0 r1";
    of_after.chart_names = "before after";
    const auto is_shown = [&](const std::string& name) { return html::stage_of(after, name) != nullptr; };
    if (const auto first = std::ranges::find_if(changed, is_shown); first != changed.end())
        of_after.first_stage = *first;
    of_after.paragraphs = {"The numbers are in the tables of the two runs below."};
    return of_after;
}

/// Both on one scale, so that the bars' lengths show the change of the mean.
Section stacks_of_both(const Results& before, const Results& after) {
    Section section{"both", "Where the time goes"};
    const auto longest = std::max(html::max_mean_of(before), html::max_mean_of(after));
    const auto add_stacks = [&](const Results& results, const std::string& name) {
        for (auto& stack : html::stacks_of(results, longest)) {
            stack.label = stack.label.empty() ? name : fmt::format("{} {}", stack.label, name);
            section.stacks.push_back(std::move(stack));
        }
    };
    add_stacks(before, "before");
    add_stacks(after, "after");
    section.legend = html::legend_of(after);
    return section;
}

Page page_of(const Reports& reports, const Options& options) {
    Page page;
    const auto rows = max_block_rows / std::max<std::size_t>(1, reports.size());
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const auto results = reports.results(i, options);
        page.runs.push_back(run_of(results, options, i, html::block_length(results, rows), true));
    }
    if (reports.size() == 1) {
        page.title = page.runs[0].heading;
        append(page.title, page.runs[0].facts);
    } else {
        page.title = fmt::format("{} reports", reports.size());
    }
    return page;
}

void write_html(std::ostream& out, const Reports& reports, const Options& options) {
    html::write(out, page_of(reports, options));
}

void write_hosts_html(std::ostream& out, const Hosts& hosts, const Reports& reports, const Options& options) {
    auto page = page_of(reports, options);
    Run run{.id = "all", .heading = fmt::format("{} on {} hosts", page.runs[0].heading, hosts.rows.size())};
    if (!hosts.verdict.empty()) run.sentences.push_back(hosts.verdict + '.');
    if (!hosts.missing.empty()) run.warnings.push_back(hosts.missing);
    run.sections.push_back(html::hosts_section(hosts));
    page.title = run.heading;
    page.runs.insert(page.runs.begin(), std::move(run));
    html::write(out, page);
}

/// Of the first: the changes, both in each chart, then a part for each.
void write_comparisons_html(std::ostream& out, std::span<const Compared> all, const Options& options) {
    const auto& [comparison, before, after] = all.front();
    Run run{.id = "both", .heading = comparison.recipe + ": before and after"};
    append(run.heading, group_text(comparison.group));
    const auto facts_before = facts_of(before), facts_after = facts_of(after);
    if (!facts_before.empty() && !facts_after.empty()) {
        run.facts = fmt::format("before: {}; after: {}", facts_before, facts_after);
    }
    run.warnings = comparison.warnings;
    run.sentences = html::verdicts_of(comparison);
    for (const auto& [name, results] : {std::pair{"Before", &before}, {"After", &after}}) {
        for (const auto& answer : answers_of(*results))
            run.sentences.push_back(fmt::format("{}: {}", name, answer));
    }
    add_section(run, html::changes_section(comparison));
    if (auto section = stacks_of_both(before, after); !section.stacks.empty())
        run.sections.push_back(std::move(section));
    // Of one length, or their maxima and percentiles could not be compared.
    const auto block_ns =
        std::max(html::block_length(before, max_block_rows / 2), html::block_length(after, max_block_rows / 2));
    const auto changed = changed_stages(comparison);
    for (auto section :
         {both(html::time_section(before, block_ns), html::time_section(after, block_ns), after, changed, {}),
          both(html::distribution_section(before), html::distribution_section(after), after, changed,
               html::curves_of_both(before, after, changed))}) {
        if (!section.chart.empty()) run.sections.push_back(std::move(section));
    }
    Page page{comparison.recipe + ", before and after", {std::move(run)}};
    page.runs.push_back(run_of(before, options, 0, block_ns, false));
    page.runs.push_back(run_of(after, options, 1, block_ns, false));
    page.runs[1].heading.insert(0, "Before: ");
    page.runs[2].heading.insert(0, "After: ");
    html::write(out, page);
}

}  // namespace

/// One page in one file, to mail or attach: nothing is fetched, and its Content-Security-Policy forbids fetching.
/// All numbers are in tables; with JavaScript two charts are drawn from them. Local time zone. A part for each report.
/// What comes from the input is escaped; bytes that are no UTF-8 become U+FFFD.
constexpr Format html_format{.name = "html",
                             .write = write_html,
                             .write_comparisons = write_comparisons_html,
                             .write_hosts = write_hosts_html,
                             .one_comparison = true};

}  // namespace stapgen::show
