// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/sections.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>

#include "base/text.h"
#include "show/model/layout.h"

namespace stapgen::show::section {

namespace {

std::string cpu_share_text(const std::optional<double>& percent) {
    return percent ? fmt::format("{:.2f}%", *percent) : "-";
}

/// In a unit of time, or in cycles where it is not known how long these are.
std::string each(const rows::Cost& cost, std::int64_t cycles, std::int64_t hits) {
    const auto of_one = cycles / std::max<std::int64_t>(hits, 1);
    const auto per_s = cost.cycles_per_s;
    if (!per_s) return fmt::format("{} cycles", base::with_commas(of_one));
    return duration_text(static_cast<double>(of_one) / *per_s * 1e9);
}

std::string headline(const rows::Cost& cost) {
    auto text = fmt::format("The probes' cost: {} hits", base::with_commas(cost.hits));
    if (cost.expected_hits)
        text += fmt::format(" ({} expected for this traffic)", base::with_commas(*cost.expected_hits));
    text += fmt::format(", {} each", each(cost, cost.cycles, cost.hits));
    if (cost.one_cpu_percent) {
        text += fmt::format("; {} of one CPU's time", cpu_share_text(cost.one_cpu_percent));
        if (cost.cpus > 1) text += fmt::format(", {} of all {}", cpu_share_text(cost.all_cpus_percent), cost.cpus);
    }
    return text;
}

}  // namespace

Sheet Averages::sheet(const Results& results) {
    return {
        .sentences = {"means only: the input has no single values and so no percentiles; a mean is off by its error "
                      "at most"},
        .table = laid_out(results.of<rows::Average>(), "Averages of the whole")};
}

Sheet Who::sheet(const Results& results) {
    return {.sentences = {results.sentences.who},
            .table = laid_out(results.of<rows::Who>(), "The worst first"),
            .largest_first = true};
}

Sheet Functions::sheet(const Results& results) {
    Sheet sheet{.sentences = results.sentences.functions, .largest_first = true};
    const auto& functions = results.of<rows::Function>();
    if (!functions.empty()) sheet.table = laid_out(functions, "By samples of the CPU time of slow requests");
    return sheet;
}

Sheet Ledger::sheet(const Results& results) {
    return {.sentences = results.sentences.ledger,
            .table = laid_out(results.of<rows::Ledger>(), "What became of received packets")};
}

Sheet Losses::sheet(const Results& results) {
    auto counters = results.of<rows::Counter>();
    std::erase_if(counters, std::not_fn(has_risen));
    return {.table =
                laid_out(counters, "Losses without a drop event, by the kernel's counters of this network namespace")};
}

Sheet Cost::sheet(const Results& results) {
    const auto& cost = results.one<rows::Cost>();
    auto probes = cost.probes;
    std::ranges::stable_sort(probes, std::greater{}, &rows::ProbeCost::cycles);
    Table table{"By probe", {{"HITS"}, {"MEAN"}, {"MAX"}, {"ONE CPU"}, {"PROBE", Kind::text}}};
    for (const auto& row : probes) {
        table.rows.push_back({{base::with_commas(row.hits)},
                              {each(cost, row.cycles, row.hits)},
                              {each(cost, row.max_cycles, 1)},
                              {cpu_share_text(row.one_cpu_percent)},
                              {row.point}});
    }
    return {.sentences = {headline(cost)}, .table = std::move(table)};
}

}  // namespace stapgen::show::section
