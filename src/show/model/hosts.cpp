// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "show/model/texts.h"

namespace stapgen::show {

namespace {

bool is_total(std::string_view stage) {
    return stage == "total" || stage.ends_with(" total");
}

/// The total that is slowest on some host; empty: there is none.
std::string slowest_total(const std::vector<HostRow>& rows) {
    std::string slowest;
    std::int64_t longest = -2;
    for (const auto& row : rows) {
        for (const auto& [name, stats] : row.stages) {
            const auto p99 = stats.percentile(99).value_or(-1);
            if (!is_total(name) || p99 <= longest) continue;
            longest = p99;
            slowest = name;
        }
    }
    return slowest;
}

}  // namespace

HostRow host_row(const std::string& host, const rows::Results& results) {
    HostRow row;
    row.host = host;
    row.n = results.one<rows::Accounting>().reported;
    row.lost = results.one<rows::Accounting>().lost;
    row.resolution_ns = results.one<rows::Precision>().resolution_ns;
    row.kernel = results.one<rows::Origin>().kernel.value_or("");
    std::int64_t longest = -1;
    for (const auto& stage : results.of<rows::Stage>()) {
        if (!stage.group.empty()) continue;
        row.stages.emplace(stage.stage, *stage.distribution);
        if (is_total(stage.stage)) continue;
        if (const auto p99 = stage.distribution->percentile(99); p99.value_or(-1) > longest) {
            longest = *p99;
            row.slowest_stage = stage.stage;
        }
    }
    for (const auto& total : results.of<rows::Total>())
        row.stages.emplace(total.stage, *total.distribution);
    return row;
}

Hosts::Hosts(std::vector<HostRow> all, std::string missing_hosts, std::string verdict_of_all)
    : rows(std::move(all)), missing(std::move(missing_hosts)), verdict(std::move(verdict_of_all)) {
    const auto different = std::ranges::find_if(rows, [](const HostRow& row) { return !row.differs_in.empty(); });
    stage = different == rows.end() ? slowest_total(rows) : different->differs_in;
    for (auto& row : rows) {
        std::erase_if(row.stages, [&](const auto& measure) { return measure.first != stage; });
        row.stage = stage;
        row.p50_ns = row.percentile(50);
        row.p99_ns = row.percentile(99);
        if (!row.stages.empty()) row.max_ns = row.stages.begin()->second.max();
    }
    std::ranges::stable_sort(rows, std::greater{},
                             [](const HostRow& row) { return std::pair(!row.differs_in.empty(), row.p99_ns); });
}

Table hosts_table(const Hosts& hosts, std::size_t most) {
    Table table{hosts.stage.empty() ? "Records by host" : fmt::format("{} by host, in microseconds", hosts.stage),
                {{"HOST", Kind::head},
                 {"KERNEL", Kind::text},
                 {"N"},
                 {.name = hosts.stage.empty() || is_total(hosts.stage) ? "P50" : hosts.stage + " P50", .unit = "us"},
                 {"P99"},
                 {"MAX"},
                 {"SLOWEST STAGE", Kind::text},
                 {"LOST"}}};
    if (!hosts.verdict.empty()) table.columns.push_back({"DIFFERS", Kind::text, In::page});
    const Style style;
    for (const auto& row : hosts.rows) {
        if (table.rows.size() == most) break;
        const bool differs = !row.differs_in.empty();
        table.rows.push_back(
            {{.text = row.host, .mark = differs ? "slower" : "", .ink = differs ? base::Ink::bad : base::Ink::plain},
             {row.kernel},
             {fmt::to_string(row.n)},
             {style.cell(row.p50_ns)},
             {style.cell(row.p99_ns)},
             {style.cell(row.max_ns)},
             {row.slowest_stage.empty() ? "-" : row.slowest_stage},
             {fmt::to_string(row.lost)}});
        if (!hosts.verdict.empty()) table.rows.back().push_back({.text = row.difference});
    }
    if (const auto left = hosts.rows.size() - table.rows.size(); left > 0)
        table.below = fmt::format("and {} more hosts", left);
    return table;
}

std::string host_text(const HostRow& row) {
    const auto p99 = row.percentile(99);
    return fmt::format("{}{}n {}, p99 {}, lost {}", row.difference.empty() ? "" : row.difference + "; ",
                       row.kernel.empty() ? "" : row.kernel + ", ", row.n, p99 ? duration_text(*p99) : "-", row.lost);
}

}  // namespace stapgen::show
