// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace stapgen::table {

/// The mean of something whose distribution is not known: the input gave means only.
struct Average {
    bool is_time = true;  ///< ns, else a number without a unit
    std::int64_t n = 0;   ///< 0: the input does not say of how many it is
    double mean = 0;
    double error = 0;  ///< the true mean is this far away at most: the input cuts digits off
    __extension__ using Wide = __int128;
    Wide halves = 0;  ///< twice the sum of times, the source of `mean`: an integer, so that sums are exact
    std::int64_t error_halves = 0;  ///< likewise of `error`
    bool is_largest = false;        ///< of means that differ, of unknown numbers of values

    /// Sets mean and error of times from the sums. n is above 0.
    void divide();

    /// Of all values together; where their numbers are not known, the larger mean.
    Average& operator+=(const Average& other);
};

/// What would be too large is not added.
void add_halves(Average::Wide& into, Average::Wide more);

}  // namespace stapgen::table
