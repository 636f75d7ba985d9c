// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

#include "table/histogram.h"

/// A distribution of one value, n times.
inline stapgen::table::Histogram repeated(std::int64_t value, int n) {
    stapgen::table::Histogram histogram;
    for (int i = 0; i < n; ++i)
        histogram.add(value);
    return histogram;
}
