#include "report/text/count_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/model/measures.h"
#include "report/text/interval_text.h"
#include "report/text/table.h"

namespace stapgen::report {

namespace {

using analyze::Tally;

/// The row of a counter that fell says nothing of how far it rose.
bool is_fall(const Tally& tally) {
    const auto* name = tally.group.empty() ? nullptr : std::get_if<std::string>(&tally.group.front().value);
    return name != nullptr && name->starts_with("reset.");
}

bool is_loss(const Tally& tally) {
    return tally.loss || tally.loss_by_name;
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

std::vector<std::string> keys_of(std::span<const Tally> tallies) {
    std::vector<std::string> keys;
    for (const auto& tally : tallies) {
        for (const auto& field : tally.group) {
            const bool is_other = std::holds_alternative<bool>(field.value);
            if (!is_other && std::ranges::find(keys, field.key) == keys.end()) keys.push_back(field.key);
        }
    }
    return keys;
}

std::string key_cell(const Tally& tally, const std::string& key, bool is_first) {
    const auto found = std::ranges::find(tally.group, key, &analyze::GroupField::key);
    if (found != tally.group.end()) return group_text(*found);
    return is_first ? "other" : "";
}

std::string_view loss_cell(const Tally& tally) {
    return tally.loss ? "lost" : tally.loss_by_name ? "by name" : "";
}

bool has_losses(std::span<const Tally> tallies) {
    return std::ranges::any_of(tallies, is_loss);
}

std::string counts_title(const analyze::Summary& summary, std::span<const Tally> totals) {
    if (!summary.mixed_units)
        return fmt::format("total: {} {}", analyze::sum_of(totals), base::printable(summary.counted));
    const auto fell = std::ranges::count_if(totals, is_fall), losses = std::ranges::count_if(totals, is_loss);
    if (summary.levels)
        return fmt::format("{} of {} counters tell losses, and are not 0", losses, summary.counters_read);
    const auto rose = std::ssize(totals) - fell;
    auto title = summary.counters_read > 0 ? fmt::format("{} of {} counters", rose, summary.counters_read)
                                           : fmt::format("{} counter{}", rose, rose == 1 ? "" : "s");
    title += fmt::format(" rose, and {} of them tell losses", losses);
    if (fell > 0) title += fmt::format("; {} fell", fell);
    return title;
}

std::vector<std::pair<std::string, std::string>> meanings_of(std::span<const Tally> tallies) {
    std::vector<std::pair<std::string, std::string>> meanings;
    for (const auto& tally : tallies) {
        if (tally.meaning.empty() || tally.group.empty()) continue;
        if (std::ranges::find(meanings, tally.meaning, &std::pair<std::string, std::string>::second) == meanings.end())
            meanings.emplace_back(group_text(tally.group.front()), tally.meaning);
    }
    return meanings;
}

void write_counts(std::ostream& out, const analyze::Summary& summary, const Options& options) {
    if (shows_parts(summary, options)) {
        write_intervals(out, summary, std::span<const Tally>(summary.tallies), "none",
                        [&](std::span<const Tally> rows) { write_tallies(out, summary, rows, options.top); });
    }
    if (options.interval) return;
    const auto totals = analyze::total_tallies(summary);
    out << counts_title(summary, totals) << '\n';
    if (totals.empty()) {
        out << '\n';
        return;
    }
    write_tallies(out, summary, totals, options.top);
    write_meanings(out, std::span(totals).first(std::min(options.top, totals.size())), options.width);
}

}  // namespace stapgen::report
