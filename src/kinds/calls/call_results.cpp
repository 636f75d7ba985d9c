// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "kinds/calls/calls.h"

namespace stapgen::kinds::calls {

void put_results(const Measured& measured, const Asked& /*asked*/, table::Results& results) {
    const bool any = measured.has("calls");
    results.tables.push_back(measured.or_empty(calls_table()));
    const auto left_out = results.tables.back().left_out;
    results.tables.push_back(
        one_fact("calls_left_out", table::Type::count, any ? table::Value(left_out) : table::Value(), true));
    if (left_out > 0)
        results.say("calls_left_out", fmt::format("{} more calls are not shown; the tables count them", left_out));
}

}  // namespace stapgen::kinds::calls
