#include "report/text/drop_text.h"

#include <fmt/format.h>

#include <span>

#include "report/model/drop_advice.h"
#include "report/model/measures.h"
#include "report/text/interval_text.h"
#include "report/text/table.h"

namespace stapgen::report {

namespace {

using analyze::Drop;

/// So many lines of advice, for the reasons with the most drops.
constexpr std::size_t max_advice = 8;

void write_drop_table(std::ostream& out, const ShownDrops& shown, bool with_legend) {
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
    if (all.size() > max_advice) all.resize(max_advice);
    for (const auto& given : all) {
        out << base::wrapped(fmt::format("{}: {}", subject_of(given), given.advice.text), width, 2) << '\n';
    }
    out << '\n';
}

}  // namespace

void write_drops(std::ostream& out, const analyze::Summary& summary, const Options& options) {
    if (shows_parts(summary, options)) {
        write_intervals(out, summary, std::span<const Drop>(summary.drops), "no drops",
                        [&](std::span<const Drop> rows) {
                            write_drop_table(out, shown_drops(rows, options.hide_benign), options.interval.has_value());
                        });
    }
    if (options.interval) return;
    const auto totals = analyze::total_drops(summary);
    if (totals.empty()) {
        out << "no drops in all\n\n";
        return;
    }
    out << total_text(totals) << '\n';
    const auto shown = shown_drops(totals, options.hide_benign);
    write_drop_table(out, shown, true);
    write_advice(out, shown.rows, options.width);
}

}  // namespace stapgen::report
