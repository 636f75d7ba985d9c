// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <vector>

#include "kinds/intervals.h"
#include "kinds/kind.h"
#include "rows/results.h"

namespace stapgen::analyze {

/// One of each kind of measurement.
std::vector<std::unique_ptr<kinds::Kind>> all_kinds(const kinds::Settings& settings, kinds::IntervalLog& log);

/// The tables of each kind that are written, in the order of documents.
void put_kinds(const kinds::Measured& measured, const kinds::Asked& asked, rows::Results& results);

}  // namespace stapgen::analyze
