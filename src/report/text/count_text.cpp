#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/text.h"
#include "report/model/counts.h"
#include "report/model/measures.h"
#include "report/model/wall_time.h"
#include "report/text/sections.h"
#include "report/text/table.h"

namespace stapgen::report {

namespace {

using analyze::Drop;
using analyze::Tally;

/// When each interval ended, and then its rows by `write`, or `none` where there are none. `rows` are in the order of
/// their intervals. Nothing where there is one that is the whole measurement, or they have been written.
template <class Row, class Write>
void write_intervals(std::ostream& out, const Report& report, std::span<const Row> rows, std::string_view none,
                     Write write) {
    const auto& intervals = report.summary.intervals;
    if (!report.options.interval && (report.options.intervals_shown || intervals.size() < 2)) return;
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const auto stop =
            std::ranges::find_if(rows, [i](const Row& row) { return row.interval != static_cast<std::int64_t>(i); });
        const auto here = rows.first(static_cast<std::size_t>(stop - rows.begin()));
        rows = rows.subspan(here.size());
        const auto& end = intervals[i].end_epoch_ns;
        out << (end ? local_time(*end) : "after the last tick") << '\n';
        if (here.empty()) {
            out << none << "\n\n";
        } else {
            write(here);
        }
    }
}

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

void write_tallies(std::ostream& out, const analyze::Summary& summary, std::span<const Tally> tallies,
                   std::size_t most) {
    const auto shown = tallies.first(std::min(most, tallies.size()));
    const auto keys = keys_of(shown);
    const bool any_loss = has_losses(shown);
    const bool any_rate = std::ranges::any_of(shown, [](const Tally& tally) { return tally.per_s.has_value(); });
    std::vector<Column> columns{{base::upper(base::printable(summary.counted))}};
    if (any_rate) columns.push_back({"PER S"});
    for (const auto& key : keys)
        columns.push_back({base::upper(base::printable(key)), Align::left});
    if (any_loss) columns.push_back({"LOSS", Align::left});
    std::vector<std::vector<std::string>> rows;
    for (const auto& tally : shown) {
        auto& row = rows.emplace_back();
        row.push_back(fmt::format("{}", tally.count));
        if (any_rate) row.push_back(tally.per_s ? per_second_text(*tally.per_s) : "-");
        for (const auto& key : keys)
            row.push_back(key_cell(tally, key, key == keys.front()));
        if (any_loss) row.emplace_back(loss_cell(tally));
    }
    out << table(columns, rows);
    const auto rest = tallies.subspan(shown.size());
    if (!rest.empty()) {
        const auto sum = summary.mixed_units ? "" : fmt::format("{} in ", analyze::sum_of(rest));
        out << fmt::format("and {}{} more row{}; --top shows more\n", sum, rest.size(), rest.size() == 1 ? "" : "s");
    }
    out << '\n';
}

void write_meanings(std::ostream& out, std::span<const Tally> tallies, std::size_t width) {
    const auto meanings = meanings_of(tallies);
    for (const auto& [name, meaning] : meanings)
        out << base::wrapped(fmt::format("{}: {}", name, base::printable(meaning)), width, 2) << '\n';
    if (!meanings.empty()) out << '\n';
}

}  // namespace

void write_drops(std::ostream& out, const Report& report) {
    const auto& options = report.options;
    write_intervals(out, report, std::span<const Drop>(report.summary.drops), "no drops",
                    [&](std::span<const Drop> rows) {
                        write_drop_table(out, shown_drops(rows, options.hide_benign), options.interval.has_value());
                    });
    if (options.interval) return;
    out << report.drops_title << '\n';
    write_drop_table(out, report.drops, true);
    for (const auto& given : std::span(report.advice).first(std::min(max_advice, report.advice.size())))
        out << base::wrapped(fmt::format("{}: {}", subject_of(given), given.advice.text), options.width, 2) << '\n';
    if (!report.advice.empty()) out << '\n';
}

void write_counts(std::ostream& out, const Report& report) {
    const auto& summary = report.summary;
    const auto& options = report.options;
    write_intervals(out, report, std::span<const Tally>(summary.tallies), "none",
                    [&](std::span<const Tally> rows) { write_tallies(out, summary, rows, options.top); });
    if (options.interval) return;
    const std::span totals(report.counts);
    out << counts_title(summary, totals) << '\n';
    if (totals.empty()) {
        out << '\n';
        return;
    }
    write_tallies(out, summary, totals, options.top);
    write_meanings(out, totals.first(std::min(options.top, totals.size())), options.width);
}

}  // namespace stapgen::report
