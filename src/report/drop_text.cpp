#include "report/drop_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analyze/saturate.h"
#include "report/drop_advice.h"
#include "report/measures.h"
#include "report/table.h"
#include "report/wall_time.h"

namespace stapgen::report {

namespace {

using analyze::Drop;

std::int64_t sum(std::span<const Drop> drops) {
    std::int64_t total = 0;
    for (const auto& drop : drops)
        total = analyze::saturating_add(total, drop.count);
    return total;
}

/// So many lines of advice, for the reasons with the most drops.
constexpr std::size_t most_advice = 8;

void write_table(std::ostream& out, const ShownDrops& shown, bool with_legend) {
    std::vector<std::vector<std::string>> rows;
    bool is_marked = false;
    for (const auto& drop : shown.rows) {
        const bool benign = advice_of(drop).benign;
        is_marked = is_marked || benign;
        rows.push_back({fmt::format("{}", drop.count), place_text(drop),
                        benign ? fmt::format("{} {}", reason_text(drop), benign_mark) : reason_text(drop)});
    }
    if (!rows.empty()) out << table({{"COUNT"}, {"LOCATION", Align::left}, {"REASON", Align::left}}, rows);
    if (is_marked && with_legend) out << benign_legend << '\n';
    if (shown.hidden_rows > 0) out << hidden_text(shown) << '\n';
    out << '\n';
}

void write_advice(std::ostream& out, std::span<const Drop> drops, std::size_t width) {
    auto all = advice_for(drops);
    if (all.empty()) return;
    if (all.size() > most_advice) all.resize(most_advice);
    for (const auto& given : all) {
        out << wrapped(fmt::format("{}: {}", subject_of(given), given.advice.text), width, 2) << '\n';
    }
    out << '\n';
}

}  // namespace

void write_drops(std::ostream& out, const analyze::Summary& summary, const TextOptions& options) {
    // Of one interval that is the whole measurement the total tells all.
    const bool by_interval = options.intervals && (summary.intervals.size() > 1 || !options.total);
    if (by_interval) {
        std::span<const Drop> rest(summary.drops);
        for (std::size_t i = 0; i < summary.intervals.size(); ++i) {
            const auto stop = std::ranges::find_if(
                rest, [i](const Drop& drop) { return drop.interval != static_cast<std::int64_t>(i); });
            const auto rows = rest.first(static_cast<std::size_t>(stop - rest.begin()));
            rest = rest.subspan(rows.size());
            const auto& end = summary.intervals[i].end_epoch_ns;
            out << (end ? local_time(*end) : "after the last tick") << '\n';
            if (rows.empty()) {
                out << "no drops\n\n";
            } else {
                write_table(out, shown_drops(rows, options.hide_benign), !options.total);
            }
        }
    }
    if (!options.total) return;
    const auto totals = analyze::total_drops(summary);
    if (totals.empty()) {
        out << "no drops in all\n\n";
        return;
    }
    out << "total: " << sum(totals) << " drops at " << totals.size()
        << (totals.size() == 1 ? " place" : " places and reasons") << '\n';
    const auto shown = shown_drops(totals, options.hide_benign);
    write_table(out, shown, true);
    write_advice(out, shown.rows, text_width(options));
}

}  // namespace stapgen::report
