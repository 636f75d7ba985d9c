#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "report/model/call_tree.h"
#include "report/model/measures.h"
#include "report/model/wall_time.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace stapgen::report {

namespace {

using analyze::Measure;

/// The measures of the whole in each block, in which they are `histograms`.
void write_blocks(std::ostream& out, const analyze::Summary& summary, const std::vector<Measure>& measures,
                  std::vector<analyze::Histogram> analyze::Block::*histograms, bool is_time) {
    const auto whole = in_series(measures);
    const bool has_total = std::ranges::any_of(
        whole, [](const Measure* measure) { return measure->name == "total" && measure->stats.n() > 0; });
    const Style style{.is_time = is_time};
    std::vector<std::vector<std::string>> rows;
    for (const auto& block : summary.series.blocks()) {
        const auto time = summary.start_epoch_ns ? local_time(block.start_ns) : seconds_text(block.start_ns);
        const auto& all = block.*histograms;
        for (std::size_t i = 0; i < whole.size() && i < all.size(); ++i) {
            if (has_total ? whole[i]->name != "total" : whole[i]->stats.n() == 0) continue;
            rows.push_back({time, base::printable(whole[i]->name), fmt::format("{}", all[i].n()),
                            style.cell(all[i].percentile(50)), style.cell(all[i].percentile(99)),
                            style.cell(all[i].max())});
        }
    }
    if (rows.empty()) return;
    out << "In blocks of " << base::format_duration(std::chrono::nanoseconds(summary.series.block_ns())) << ":\n"
        << table({{"TIME", Align::left},
                  {is_time ? "STAGE [us]" : "VALUE", Align::left},
                  {"N"},
                  {"P50"},
                  {"P99"},
                  {"MAX"}},
                 rows)
        << '\n';
}

}  // namespace

void write_directions(std::ostream& out, const Report& report) {
    for (const auto& direction : report.directions)
        out << base::wrapped(direction.sentence, report.options.width) << "\n\n";
    for (const auto& [breakdown, sentence, tail, slowest] : report.directions) {
        auto records = slowest;
        if (records.size() > report.options.slowest) records.resize(report.options.slowest);
        if (records.empty()) continue;
        const auto name = breakdown.direction().empty() ? "" : base::printable(breakdown.direction()) + " ";
        out << fmt::format("The slowest {}record{} [us]:\n", name, records.size() == 1 ? "" : "s");
        write_timelines(out, report.summary, breakdown, records, report.options);
        out << '\n';
    }
}

void write_series(std::ostream& out, const Report& report) {
    const auto& summary = report.summary;
    if (!report.options.series || report.options.interval || summary.series.blocks().empty()) return;
    write_blocks(out, summary, summary.stages, &analyze::Block::stages, true);
    write_blocks(out, summary, summary.values, &analyze::Block::values, false);
}

void write_calls(std::ostream& out, const analyze::Summary& summary) {
    for (const auto tree : call_trees(summary))
        out << "packet " << tree.front().packet << '\n' << call_tree(tree) << '\n';
    if (const auto more = calls_left_out(summary); !more.empty()) out << more << "\n\n";
}

void write_averages(std::ostream& out, const analyze::Summary& summary) {
    if (summary.averages.empty()) return;
    std::vector<std::vector<std::string>> rows;
    for (const auto& average : summary.averages) {
        const auto cell = [&](double number) {
            return average.is_time ? Style().cell(number) : fmt::format("{:.3f}", number);
        };
        rows.push_back({base::printable(average.name) + (average.is_time ? " [us]" : ""), fmt::format("{}", average.n),
                        cell(average.mean), cell(average.error)});
    }
    out << table({{"MEANS ONLY", Align::left}, {"N"}, {"MEAN"}, {"+-ERROR"}}, rows)
        << "means only: the input has no single values, so there are no percentiles\n\n";
}

}  // namespace stapgen::report
