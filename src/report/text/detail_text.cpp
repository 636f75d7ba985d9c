#include "report/text/detail_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "report/model/measures.h"
#include "report/model/tail_text.h"
#include "report/model/wall_time.h"
#include "report/text/table.h"
#include "report/text/timeline_text.h"

namespace stapgen::report {

namespace {

using analyze::Measure;

void write_slowest(std::ostream& out, const analyze::Summary& summary, const analyze::Breakdown& breakdown,
                   const Options& options) {
    auto records = breakdown.slowest();
    if (records.size() > options.slowest) records.resize(options.slowest);
    if (records.empty()) return;
    const auto direction = breakdown.direction().empty() ? "" : base::printable(breakdown.direction()) + " ";
    out << fmt::format("The slowest {}record{} [us]:\n", direction, records.size() == 1 ? "" : "s");
    write_timelines(out, summary, breakdown, records, options);
    out << '\n';
}

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

void write_breakdowns(std::ostream& out, const analyze::Summary& summary, const Options& options) {
    for (const auto& breakdown : summary.breakdowns) {
        if (const auto sentence = tail_sentence(breakdown); !sentence.empty()) {
            out << base::wrapped(sentence, options.width) << "\n\n";
        }
    }
    for (const auto& breakdown : summary.breakdowns)
        write_slowest(out, summary, breakdown, options);
}

void write_series(std::ostream& out, const analyze::Summary& summary, const Options& options) {
    if (!options.series || options.interval || summary.series.blocks().empty()) return;
    write_blocks(out, summary, summary.stages, &analyze::Block::stages, true);
    write_blocks(out, summary, summary.values, &analyze::Block::values, false);
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
