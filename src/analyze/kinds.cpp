// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/kinds.h"

#include <array>

#include "kinds/calls/calls.h"
#include "kinds/counts/counts.h"
#include "kinds/drops/drops.h"
#include "kinds/functions/functions.h"
#include "kinds/latency/latency.h"
#include "kinds/ledger/ledger.h"
#include "kinds/who/who.h"

namespace stapgen::analyze {

namespace {

struct KindOf {
    std::unique_ptr<kinds::Kind> (*make)(const kinds::Settings& settings, kinds::IntervalLog& log);
    void (*put_results)(const kinds::Measured& measured, const kinds::Asked& asked, rows::Results& results);
};

/// A line for each.
constexpr auto kinds_there_are = std::to_array<KindOf>({{kinds::latency::make, kinds::latency::put_results},
                                                        {kinds::drops::make, kinds::drops::put_results},
                                                        {kinds::counts::make, kinds::counts::put_results},
                                                        {kinds::calls::make, kinds::calls::put_results},
                                                        {kinds::who::make, kinds::who::put_results},
                                                        {kinds::functions::make, kinds::functions::put_results},
                                                        {kinds::ledger::make, kinds::ledger::put_results}});

}  // namespace

std::vector<std::unique_ptr<kinds::Kind>> all_kinds(const kinds::Settings& settings, kinds::IntervalLog& log) {
    std::vector<std::unique_ptr<kinds::Kind>> all;
    for (const auto& kind : kinds_there_are)
        all.push_back(kind.make(settings, log));
    return all;
}

void put_kinds(const kinds::Measured& measured, const kinds::Asked& asked, rows::Results& results) {
    for (const auto& kind : kinds_there_are)
        kind.put_results(measured, asked, results);
}

}  // namespace stapgen::analyze
