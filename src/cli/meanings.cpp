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
        const auto* text = std::get_if<std::string>(&tally.group.front().value);
        const auto* meaning = text == nullptr ? nullptr : recipe::meaning_of(*recipe, *text);
        if (meaning == nullptr) continue;
        tally.meaning = meaning->help;
        tally.loss = meaning->loss;
    }
    std::ranges::stable_sort(summary.tallies, {},
                             [](const auto& tally) { return std::pair(tally.interval, !tally.loss); });
}

}  // namespace stapgen::cli
