// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

#include "analyze/histogram.h"

/// A distribution of one value, n times.
inline stapgen::analyze::Histogram repeated(std::int64_t value, int n) {
    stapgen::analyze::Histogram histogram;
    for (int i = 0; i < n; ++i)
        histogram.add(value);
    return histogram;
}
