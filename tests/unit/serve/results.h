// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "report/model/results.h"

inline stapgen::table::Results results_of(const stapgen::analyze::Summary& summary) {
    const stapgen::report::Options options;
    return stapgen::report::results_of(summary, options);
}
