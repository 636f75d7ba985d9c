#include "cli/meanings.h"

namespace stapgen::cli {

void put_meanings(analyze::Summary& summary, const recipe::Catalog& catalog) {
    if (summary.tallies.empty()) return;
    const auto recipe = recipe::find_recipe(catalog, summary.recipe);
    if (!recipe) return;
    for (auto& tally : summary.tallies) {
        if (tally.group.empty()) continue;
        if (const auto* text = std::get_if<std::string>(&tally.group.front().value))
            tally.meaning = recipe::meaning_of(*recipe, *text);
    }
}

}  // namespace stapgen::cli
