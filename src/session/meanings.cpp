#include "session/meanings.h"

#include <algorithm>
#include <utility>

namespace stapgen::session {

namespace {

/// Its name; null where it is grouped by something else.
const std::string* name_of(const analyze::Tally& tally) {
    return tally.group.empty() ? nullptr : std::get_if<std::string>(&tally.group.front().value);
}

}  // namespace

void put_meanings(analyze::Summary& summary, const recipe::Catalog& catalog) {
    if (summary.counted.empty()) return;
    const auto recipe = recipe::find_recipe(catalog, summary.recipe);
    if (!recipe) return;
    summary.mixed_units = recipe->source == recipe::Source::network_counters;
    for (auto& tally : summary.tallies) {
        const auto* name = name_of(tally);
        const auto* meaning = name == nullptr ? nullptr : recipe::meaning_of(*recipe, *name);
        if (meaning == nullptr) continue;
        tally.meaning = meaning->help;
        tally.loss = meaning->loss;
        tally.loss_by_name = meaning->loss_by_name;
    }
    if (summary.levels)
        std::erase_if(summary.tallies, [](const auto& tally) { return !tally.loss && !tally.loss_by_name; });
    std::ranges::stable_sort(summary.tallies, {},
                             [](const auto& tally) { return std::pair(tally.interval, -analyze::rank_of(tally)); });
}

}  // namespace stapgen::session
