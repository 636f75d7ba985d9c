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

/// What happens with this probability may happen so often: more would be one in a hundred.
inline int at_most(int times, double probability) {
    return rounds_of::quantile(times, probability, 0.99);
}

/// So often at least for `least` of a hundred: exactly that in all rounds; in some, fewer would be one in a hundred.
inline int at_least(int times, int least) {
    const bool is_all = times == rounds(times);
    return is_all ? times * least / 100 : rounds_of::quantile(times, least / 100.0, 0.01);
}
