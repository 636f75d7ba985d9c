#pragma once

#include <string>
#include <vector>

#include "report/model/measures.h"

namespace stapgen::report::html {

/// Those of the whole, without the empty ones unless there are no others.
Measures of_whole(const std::vector<analyze::Measure>& measures);

/// "12.3 %"
std::string percent(double part);

}  // namespace stapgen::report::html
