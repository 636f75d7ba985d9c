#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/model/measures.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace stapgen::report {

namespace {

std::string share_text(std::optional<double> share) {
    return share ? fmt::format("{:.2f}%", *share * 100) : "-";
}

/// In a unit of time, or in cycles where it is not known how long these are.
std::string each(const analyze::Cost& cost, std::int64_t cycles, std::int64_t hits) {
    const auto of_one = cycles / std::max<std::int64_t>(hits, 1);
    const auto ns = cost.ns(of_one);
    if (!ns) return fmt::format("{} cycles", base::with_commas(of_one));
    return duration_text(*ns);
}

std::string headline(const analyze::Cost& cost) {
    auto text = fmt::format("The probes' cost: {} hits", base::with_commas(cost.hits()));
    if (cost.expected_hits) {
        text += fmt::format(" ({} were to be expected of this traffic)", base::with_commas(*cost.expected_hits));
    }
    text += fmt::format(", {} each", each(cost, cost.cycles(), cost.hits()));
    if (const auto share = cost.share(cost.cycles())) {
        text += fmt::format("; {} of one CPU's time", share_text(share));
        if (cost.cpus > 1) {
            text += fmt::format(", {} of all {}", share_text(*share / static_cast<double>(cost.cpus)), cost.cpus);
        }
    }
    return text;
}

}  // namespace

void write_cost(std::ostream& out, const analyze::Cost& cost) {
    if (cost.probes.empty()) return;
    auto probes = cost.probes;
    std::ranges::stable_sort(probes, std::greater{}, &analyze::ProbeCost::cycles);
    std::vector<std::vector<std::string>> rows;
    for (const auto& probe : probes) {
        rows.push_back({base::with_commas(probe.hits), each(cost, probe.cycles, probe.hits),
                        each(cost, probe.max_cycles, 1), share_text(cost.share(probe.cycles)),
                        base::printable(probe.point)});
    }
    out << '\n'
        << headline(cost) << '\n'
        << table({{"HITS"}, {"MEAN"}, {"MAX"}, {"ONE CPU"}, {"PROBE", Align::left}}, rows) << '\n';
}

}  // namespace stapgen::report
