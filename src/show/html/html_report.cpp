// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

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

/// What became of packets, or what they waited for; where that is not known, where the tail comes from.
std::vector<std::string> answers_of(const Results& results) {
    const auto& [ledger, answer] = std::tie(results.sentences.ledger, results.sentences.answer);
    if (!ledger.empty()) return {ledger.front() + '.'};
    return answer.empty() ? html::tail_sentences(results) : std::vector{answer};
}

/// All of one report.
Run run_of(const Results& results, const Options& options, std::size_t number, std::size_t block_rows) {
    Run run{.id = fmt::format("r{}", number), .heading = recipe_of(results), .facts = facts_of(results)};
    run.sentences = results.sentences.kept;
    for (auto& answer : answers_of(results))
        run.sentences.push_back(std::move(answer));
    run.warnings = results.sentences.warnings;
    for (const auto& [note] : results.of<rows::Note>())
        run.notes.push_back(note);
    each_section(results, [&](auto section) {
        Section drawn{std::string(section.id), std::string(section.heading)};
        draw(drawn, section, html::Report{results, options, block_rows});
        const bool is_empty = drawn.tables.empty() && drawn.paragraphs.empty() && drawn.explanations.empty();
        if (!is_empty) run.sections.push_back(std::move(drawn));
    });
    return run;
}

/// The stages that both have: those of `first`, then the others.
table::Texts stages_of_both(const Results& before, const Results& after, const table::Texts& first) {
    auto stages = first;
    const auto old = undivided_stages(before), now = undivided_stages(after);
    for (const auto& row : now.rows)
        if (std::ranges::find(stages, row.name) == stages.end()) stages.push_back(row.name);
    std::erase_if(stages, [&](const std::string& stage) {
        return std::ranges::find(old.rows, stage, &MeasureRow::name) == old.rows.end() ||
               std::ranges::find(now.rows, stage, &MeasureRow::name) == now.rows.end();
    });
    return stages;
}

/// Both on one scale, so that the bars' lengths show the change of the mean.
Section stacks_of_both(const Results& before, const Results& after) {
    Section both{"both", std::string(section::Stages::heading)};
    const auto longest = std::max(html::max_mean_of(before), html::max_mean_of(after));
    auto coloured = coloured_stages(after);
    for (const auto& stage : coloured_stages(before))
        if (!colour_of_stage(coloured, stage)) coloured.push_back(stage);
    const auto add_stacks = [&](const Results& results, const std::string& name) {
        for (auto& stack : html::stacks_of(results, coloured, longest)) {
            stack.label = stack.label.empty() ? name : fmt::format("{} {}", stack.label, name);
            both.stacks.push_back(std::move(stack));
        }
    };
    add_stacks(before, "before");
    add_stacks(after, "after");
    return both;
}

Page page_of(const Reports& reports, const Options& options) {
    Page page;
    const auto rows = max_block_rows / std::max<std::size_t>(1, reports.size());
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const auto results = reports.results(i, options);
        page.runs.push_back(run_of(results, options, i, rows));
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
    run.sections.push_back(html::changes_section(comparison));
    if (auto section = stacks_of_both(before, after); !section.stacks.empty())
        run.sections.push_back(std::move(section));
    const auto stages = stages_of_both(before, after, changed_stages(comparison));
    const auto add_plots = [&](auto section, std::vector<html::Plot> plots) {
        if (plots.empty()) return;
        run.sections.push_back({std::string(section.id), std::string(section.heading)});
        run.sections.back().paragraphs = {"The numbers are in the tables of the two runs below."};
        run.sections.back().plots = std::move(plots);
    };
    add_plots(section::OverTime(), html::lines_of_both(before, after, stages));
    add_plots(section::Distribution(), html::distributions_of_both(before, after, stages));
    Page page{comparison.recipe + ", before and after", {std::move(run)}};
    page.runs.push_back(run_of(before, options, 0, max_block_rows / 2));
    page.runs.push_back(run_of(after, options, 1, max_block_rows / 2));
    page.runs[1].heading.insert(0, "Before: ");
    page.runs[2].heading.insert(0, "After: ");
    html::write(out, page);
}

}  // namespace

/// One page in one file, to mail or attach: nothing is fetched, and its Content-Security-Policy forbids fetching.
/// All numbers are in tables; JavaScript only reads and zooms pictures. Local time zone. A part for each report.
/// What comes from the input is escaped; bytes that are no UTF-8 become U+FFFD.
constexpr Format html_format{.name = "html",
                             .write = write_html,
                             .write_comparisons = write_comparisons_html,
                             .write_hosts = write_hosts_html,
                             .one_comparison = true};

}  // namespace stapgen::show
