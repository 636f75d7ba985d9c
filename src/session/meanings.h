#pragma once

#include "analyze/summary.h"
#include "recipe/catalog.h"

namespace stapgen::session {

/// What the counted things mean, from the recipe of that name if there is one here. What is lost comes first in each
/// interval; of what counters stand at there is nothing else left.
void put_meanings(analyze::Summary& summary, const recipe::Catalog& catalog);

}  // namespace stapgen::session
