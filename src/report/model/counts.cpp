#include "report/model/counts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/model/measures.h"

namespace stapgen::report {

using analyze::Tally;

namespace {

/// The row of a counter that fell says nothing of how far it rose.
bool is_fall(const Tally& tally) {
    const auto* name = tally.group.empty() ? nullptr : std::get_if<std::string>(&tally.group.front().value);
    return name != nullptr && name->starts_with("reset.");
}

bool is_loss(const Tally& tally) {
    return tally.loss || tally.loss_by_name;
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

}  // namespace stapgen::report
