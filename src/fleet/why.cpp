// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "show/document.h"
#include "show/text/sections.h"
#include "table/texts.h"

namespace stapgen::fleet {

HostWhy why_of(const std::string& host, const study::Why& why, const rows::Results& results) {
    HostWhy row{host, 0, {}, {}, {}, {}, {}};
    for (const auto& way : why.ways)
        row.n += way.n;
    constexpr double p99 = 99;
    for (const auto& total : results.of<rows::Total>())
        row.p99_ns = std::max(row.p99_ns, total.distribution->percentile(p99));
    for (const auto& stage : results.of<rows::Stage>())
        if (stage.stage == "total" && stage.group.empty())
            row.p99_ns = std::max(row.p99_ns, stage.distribution->percentile(p99));
    if (why.parts.empty()) return row;
    const auto& most = *std::ranges::max_element(why.parts, {}, &study::WhyPart::share);
    row.cause = most.name;
    row.cause_share = most.share;
    const auto& slow = *std::ranges::max_element(why.parts, {}, &study::WhyPart::excess_of_all);
    if (slow.excess_of_all <= 0) return row;
    row.slow_cause = slow.name;
    row.slow_cause_share = slow.excess;
    return row;
}

void sort_hosts(Whys& whys) {
    std::ranges::stable_sort(whys.hosts, [](const HostWhy& a, const HostWhy& b) {
        return std::tuple(a.differs_in.empty(), b.p99_ns, b.n) < std::tuple(b.differs_in.empty(), a.p99_ns, a.n);
    });
}

void write_text(std::ostream& out, const Whys& whys, std::size_t most, const base::Screen& screen) {
    const auto cause = [](const std::string& name, const std::optional<double>& share) -> show::Cell {
        return {name.empty() ? "-"
                             : fmt::format("{} {}%", name, std::min(table::whole_percent(share.value_or(0)), 100L))};
    };
    const bool differ = std::ranges::any_of(whys.hosts, [](const HostWhy& row) { return !row.differs_in.empty(); });
    show::Table table{"",
                      {{"HOST", show::Kind::text},
                       {base::upper(whys.noun + 's')},
                       {"P99"},
                       {"MOSTLY", show::Kind::text},
                       {"SLOW MOSTLY", show::Kind::text}}};
    if (differ) table.columns.push_back({"DIFFERS IN", show::Kind::text});
    for (const auto& row : whys.hosts) {
        if (table.rows.size() == most) break;
        auto& cells = table.rows.emplace_back();
        cells = {{row.host},
                 {base::with_commas(row.n)},
                 {row.p99_ns ? table::duration_text(*row.p99_ns) : "-"},
                 cause(row.cause, row.cause_share),
                 cause(row.slow_cause, row.slow_cause_share)};
        if (differ) cells.push_back({row.differs_in});
    }
    out << base::fitted(base::printable(whys.sentence), screen.width) << '\n' << show::text_of(table, screen);
    if (most < whys.hosts.size()) out << fmt::format("{} further hosts: --top\n", whys.hosts.size() - most);
    for (const auto& warning : whys.warnings)
        show::write_warning(out, base::printable(warning), screen);
}

void write_json(std::ostream& out, const Whys& whys) {
    show::put_json(out, show::document("stapgen.fleet-why/1", whys), 2);
}

void write_csv(std::ostream& out, const Whys& whys) {
    show::put_csv(out, whys.hosts);
}

}  // namespace stapgen::fleet
