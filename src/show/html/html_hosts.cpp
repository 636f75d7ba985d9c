// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>

#include "show/html/html_scale.h"
#include "show/html/html_sections.h"

namespace stapgen::show::html {

namespace {

/// The number of hosts that have a chart.
constexpr std::size_t max_charts = 60;
/// Of marks that no chart is too narrow for.
constexpr std::size_t max_ticks = 4;

SmallChart chart_of(const HostRow& row, const std::vector<BinCount>& bins, const LogScale& scale) {
    SmallChart chart{.name = row.host, .text = host_text(row), .stands_out = !row.differs_in.empty()};
    double highest = 0;
    for (const auto& [low, high, count] : bins) {
        const double from = scale.at(low), to = scale.at(high);
        if (to <= from) continue;
        const double density = static_cast<double>(count) / (to - from);
        highest = std::max(highest, density);
        chart.steps.push_back({from, to, density});
    }
    for (auto& step : chart.steps)
        step.height /= highest;
    if (const auto p99 = row.percentile(99)) chart.mark = scale.at(*p99);
    return chart;
}

}  // namespace

Section hosts_section(const Hosts& hosts) {
    Section section{"hosts", hosts.verdict.empty() ? "Hosts, the slowest first" : "Hosts, those that differ first"};
    section.tables.push_back(hosts_table(hosts, max_rows));
    section.tables.back().folded = !hosts.stage.empty();
    std::vector<std::vector<BinCount>> bins;
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = 1;
    for (const auto& row : hosts.rows) {
        if (bins.size() == max_charts || row.stages.empty()) break;
        bins.push_back(bins_of(row.stages.begin()->second, row.resolution_ns));
        if (bins.back().empty()) continue;
        low = std::min(low, bins.back().front().low_ns);
        high = std::max(high, bins.back().back().high_ns);
    }
    if (high == 1) return section;
    const LogScale scale(low, high);
    for (std::size_t i = 0; i < bins.size(); ++i)
        section.small.charts.push_back(chart_of(hosts.rows[i], bins[i], scale));
    section.small.scale = scale.ticks(max_ticks);
    section.paragraphs = {fmt::format(
        "The distribution of {} on each host: all on one scale of durations, each as high as its own peak. The line "
        "is the host's P99.{}",
        hosts.stage,
        bins.size() < hosts.rows.size() ? fmt::format(" {} more hosts have no chart.", hosts.rows.size() - bins.size())
                                        : "")};
    return section;
}

}  // namespace stapgen::show::html
