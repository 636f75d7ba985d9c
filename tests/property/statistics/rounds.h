// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <boost/math/distributions/binomial.hpp>
#include <cstdlib>

/// How often it is done of what is done `all` times with STAPGEN_ROUNDS=all: a fifth, which finds what is plainly
/// wrong.
inline int rounds(int all) {
    return std::getenv("STAPGEN_ROUNDS") != nullptr ? all : all / 5;
}

namespace rounds_of {
using Policy =
    boost::math::policies::policy<boost::math::policies::discrete_quantile<boost::math::policies::integer_round_down>>;
/// So many or fewer of `times` at that probability, with the probability of `part`.
inline int quantile(int times, double probability, double part) {
    return static_cast<int>(
        boost::math::quantile(boost::math::binomial_distribution<double, Policy>(times, probability), part));
}
}  // namespace rounds_of

/// Other draws would be as good: that a right program fails with some must not be likelier.
inline constexpr double one_in_a_million = 1e-6;

/// What happens with this probability may happen so often.
inline int at_most(int times, double probability) {
    return rounds_of::quantile(times, probability, 1 - one_in_a_million);
}

/// So often at least for `least` of a hundred.
inline int at_least(int times, int least) {
    return rounds_of::quantile(times, least / 100.0, one_in_a_million);
}
