// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/average.h"

#include <algorithm>

#include "base/saturate.h"

namespace stapgen::table {

void add_halves(Average::Wide& into, Average::Wide more) {
    if (Average::Wide sum = 0; !__builtin_add_overflow(into, more, &sum)) into = sum;
}

void Average::divide() {
    const auto number = static_cast<long double>(n);
    mean = static_cast<double>(static_cast<long double>(halves) / 2 / number);
    error = static_cast<double>(static_cast<long double>(error_halves) / 2 / number);
}

Average& Average::operator+=(const Average& other) {
    if (!is_time) {
        is_largest = is_largest || other.is_largest || mean != other.mean;
        mean = std::max(mean, other.mean);
        return *this;
    }
    base::add_saturating(n, other.n);
    add_halves(halves, other.halves);
    base::add_saturating(error_halves, other.error_halves);
    if (n > 0) divide();
    return *this;
}

}  // namespace stapgen::table
