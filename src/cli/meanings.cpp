#include "cli/meanings.h"

#include <algorithm>
#include <utility>

namespace stapgen::cli {

void put_meanings(analyze::Summary& summary, const recipe::Catalog& catalog) {
    if (summary.tallies.empty()) return;
    const auto recipe = recipe::find_recipe(catalog, summary.recipe);
    if (!recipe) return;
    for (auto& tally : summary.tallies) {
        if (tally.group.empty()) continue;
        if (const auto* text = std::get_if<std::string>(&tally.group.front().value))
            if (const auto* meaning = recipe::meaning_of(*recipe, *text)) {
                tally.meaning = meaning->help;
                tally.loss = meaning->loss;
            }
    }
    std::ranges::stable_sort(summary.tallies, {},
                             [](const auto& tally) { return std::pair(tally.interval, !tally.loss); });
}

}  // namespace stapgen::cli
