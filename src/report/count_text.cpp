#include "report/count_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/interval_text.h"
#include "report/measures.h"
#include "report/table.h"

namespace stapgen::report {

namespace {

using analyze::Tally;

void write_tallies(std::ostream& out, const std::string& counted, std::span<const Tally> tallies, std::size_t most) {
    const auto shown = tallies.first(std::min(most, tallies.size()));
    const auto keys = keys_of(shown);
    const bool has_losses = std::ranges::any_of(shown, &Tally::loss);
    std::vector<Column> columns{{base::upper(base::printable(counted))}};
    for (const auto& key : keys)
        columns.push_back({base::upper(base::printable(key)), Align::left});
    if (has_losses) columns.push_back({"LOSS", Align::left});
    std::vector<std::vector<std::string>> rows;
    for (const auto& tally : shown) {
        auto& row = rows.emplace_back();
        row.push_back(fmt::format("{}", tally.count));
        for (const auto& key : keys)
            row.push_back(key_cell(tally, key, key == keys.front()));
        if (has_losses) row.emplace_back(tally.loss ? loss_cell : "");
    }
    out << table(columns, rows);
    const auto rest = tallies.subspan(shown.size());
    if (!rest.empty()) {
        out << fmt::format("and {} in {} more row{}; --top shows more\n", analyze::sum_of(rest), rest.size(),
                           rest.size() == 1 ? "" : "s");
    }
    out << '\n';
}

void write_meanings(std::ostream& out, std::span<const Tally> tallies, std::size_t width) {
    const auto meanings = meanings_of(tallies);
    for (const auto& [name, meaning] : meanings)
        out << wrapped(fmt::format("{}: {}", name, base::printable(meaning)), width, 2) << '\n';
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

std::vector<std::pair<std::string, std::string>> meanings_of(std::span<const Tally> tallies) {
    std::vector<std::pair<std::string, std::string>> meanings;
    for (const auto& tally : tallies) {
        if (tally.meaning.empty() || tally.group.empty()) continue;
        auto name = group_text(tally.group.front());
        if (std::ranges::find(meanings, name, &std::pair<std::string, std::string>::first) == meanings.end())
            meanings.emplace_back(std::move(name), tally.meaning);
    }
    return meanings;
}

void write_counts(std::ostream& out, const analyze::Summary& summary, const TextOptions& options) {
    if (shows_parts(summary, options)) {
        write_intervals(
            out, summary, std::span<const Tally>(summary.tallies), "none",
            [&](std::span<const Tally> rows) { write_tallies(out, summary.counted, rows, options.max_groups); });
    }
    if (!options.total) return;
    const auto totals = analyze::total_tallies(summary);
    out << fmt::format("total: {} {}\n", analyze::sum_of(totals), base::printable(summary.counted));
    if (totals.empty()) {
        out << '\n';
        return;
    }
    write_tallies(out, summary.counted, totals, options.max_groups);
    write_meanings(out, std::span(totals).first(std::min(options.max_groups, totals.size())), text_width(options));
}

}  // namespace stapgen::report
