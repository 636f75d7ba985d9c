// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/t_test.h"

#include <boost/math/distributions/students_t.hpp>

namespace stapgen::study {

TTest::TTest(double distance, double error, double degrees) {
    const boost::math::students_t distribution(degrees);
    const double reach = error * boost::math::quantile(boost::math::complement(distribution, significance / 2));
    low = std::expm1(distance - reach);
    high = std::expm1(distance + reach);
    p = 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(distance) / error));
}

}  // namespace stapgen::study
