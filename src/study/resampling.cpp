// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/resampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace stapgen::study {

namespace {

/// A value of 0 is one below the clock's resolution; it has no logarithm.
constexpr double min_value = 0.5;

double standard_deviation(const std::vector<double>& values) {
    double mean = 0, squares = 0, n = 0;
    for (const double value : values) {
        const double distance = value - mean;
        mean += distance / ++n;
        squares += distance * (value - mean);
    }
    return n > 1 ? std::sqrt(squares / (n - 1)) : 0;
}

}  // namespace

void Resampling::add(const table::Histogram& values, bool follows) {
    add(Part{values.n(), values.sum(), follows, &values});
}

void Resampling::add(const table::Average& mean, bool follows) {
    add(Part{mean.n, mean.mean * static_cast<double>(mean.n), follows, nullptr});
}

void Resampling::add(Part part) {
    part.follows = part.follows && !after_empty_;
    after_empty_ = part.n <= 0;
    if (!after_empty_) parts_.push_back(part);
}

std::int64_t Resampling::n() const {
    std::int64_t n = 0;
    for (const auto& part : parts_)
        n += part.n;
    return n;
}

double Resampling::effective_blocks() const {
    double n = 0, squares = 0;
    for (const auto& part : parts_) {
        const auto more = static_cast<double>(part.n);
        n += more;
        squares += more * more;
    }
    return squares > 0 ? n * n / squares : 0;
}

void Resampling::build_cumulative() {
    // The first and the last row are for what is below and above the bins.
    constexpr std::size_t all_rows = schema::bins::count + 2;
    std::vector<std::size_t> row_of_bin(all_rows);
    std::int64_t min = std::numeric_limits<std::int64_t>::max(), max = std::numeric_limits<std::int64_t>::min();
    const auto each_row = [](const table::Histogram& values, const auto& call) {
        if (values.below() > 0) call(std::size_t{0}, values.below());
        values.for_each_bin([&](int bin, std::int64_t count) { call(static_cast<std::size_t>(bin) + 1, count); });
        if (values.above() > 0) call(all_rows - 1, values.above());
    };
    for (const auto& part : parts_) {
        min = std::min(min, *part.values->min());
        max = std::max(max, *part.values->max());
        each_row(*part.values, [&](std::size_t row, std::int64_t) { row_of_bin[row] = 1; });
    }
    row_values_.clear();
    for (std::size_t row = 0; row < all_rows; ++row) {
        if (row_of_bin[row] == 0) continue;
        row_of_bin[row] = row_values_.size();
        const auto value = row == 0 ? min
                           : row == all_rows - 1
                               ? max
                               : std::clamp(schema::bins::middle(static_cast<int>(row) - 1), min, max);
        row_values_.push_back(static_cast<double>(value));
    }
    const auto blocks = parts_.size();
    cumulative_.assign(row_values_.size() * blocks, 0);
    for (std::size_t i = 0; i < blocks; ++i) {
        each_row(*parts_[i].values,
                 [&](std::size_t row, std::int64_t count) { cumulative_[row_of_bin[row] * blocks + i] = count; });
    }
    for (std::size_t i = blocks; i < cumulative_.size(); ++i)
        cumulative_[i] += cumulative_[i - blocks];
}

double Resampling::mean(const Weights& weights) const {
    double n = 0, sum = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto weight = static_cast<double>(weights[i]);
        n += weight * static_cast<double>(parts_[i].n);
        sum += weight * parts_[i].sum;
    }
    return n > 0 ? sum / n : 0;
}

std::vector<double> Resampling::influences_on(double mean) const {
    std::vector<double> influences;
    for (const auto& part : parts_)
        influences.push_back(part.sum - mean * static_cast<double>(part.n));
    return influences;
}

Share Resampling::share() const {
    const double whole = mean(Weights(parts_.size(), 1));
    const auto influences = influences_on(whole);
    const double effective = effective_blocks(), independent = independence(influences);
    double squares = 0;
    for (const double influence : influences)
        squares += influence * influence;
    const double error = std::sqrt(squares * effective / std::max(effective - 1, 1.0) / independent);
    return {whole, error / static_cast<double>(n()), std::max(effective * independent - 1, 1.0)};
}

std::size_t Resampling::row_of(double percent, const Weights& weights) const {
    const auto blocks = parts_.size();
    const auto at_or_below = [&](std::size_t row) {
        std::int64_t count = 0;
        for (std::size_t i = 0; i < blocks; ++i)
            count += weights[i] * cumulative_[row * blocks + i];
        return count;
    };
    std::size_t low = 0, high = row_values_.size() - 1;
    const auto rank = table::nearest_rank(at_or_below(high), percent);
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (at_or_below(middle) >= rank) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/// What part of the blocks is independent of their neighbours: 1 / ((1 + r) / (1 - r)), and 1 where r is negative.
double Resampling::independence(const std::vector<double>& influences) const {
    double products = 0, squares = 0, pairs = 0;
    for (std::size_t i = 0; i < influences.size(); ++i) {
        squares += influences[i] * influences[i];
        if (i == 0 || !parts_[i].follows) continue;
        products += influences[i] * influences[i - 1];
        ++pairs;
    }
    if (pairs < 1 || squares <= 0) return 1;
    const auto blocks = static_cast<double>(influences.size());
    const double found = (products / pairs) / (squares / blocks);
    const double r = found + (1 + 3 * found) / blocks;  // Kendall: it is found too low by so much
    return r <= 0 ? 1 : (1 - std::min(r, 0.9)) / (1 + std::min(r, 0.9));
}

std::vector<Estimate> Resampling::estimates(const std::vector<double>& percents, int resamples, std::uint64_t seed) {
    const auto blocks = parts_.size();
    if (!percents.empty()) build_cumulative();

    const Weights once(blocks, 1);
    std::vector<Estimate> estimates(1 + percents.size());
    std::vector<double> influences(blocks);
    const auto fill = [&](Estimate& estimate, double value) {
        estimate.value = value;
        const double effective = effective_blocks(), independent = independence(influences);
        estimate.degrees = std::max(effective * independent - 1, 1.0);
        // What is drawn from B blocks varies by (B - 1) / B of the truth.
        estimate.log_error = std::sqrt(effective / std::max(effective - 1, 1.0) / independent);
    };
    const double whole = mean(once);
    influences = influences_on(whole);
    fill(estimates[0], whole);
    for (std::size_t k = 0; k < percents.size(); ++k) {
        const auto row = row_of(percents[k], once);
        const auto* below = &cumulative_[row * blocks];
        const auto total = static_cast<double>(n());
        double at_or_below = 0;
        for (std::size_t i = 0; i < blocks; ++i)
            at_or_below += static_cast<double>(below[i]);
        for (std::size_t i = 0; i < blocks; ++i)
            influences[i] = static_cast<double>(below[i]) - at_or_below / total * static_cast<double>(parts_[i].n);
        fill(estimates[k + 1], row_values_[row]);
    }

    std::mt19937_64 random(seed);
    std::vector<std::vector<double>> logs(estimates.size());
    Weights weights(blocks);
    for (int i = 0; i < resamples; ++i) {
        std::ranges::fill(weights, 0);
        for (std::size_t draw = 0; draw < blocks; ++draw)
            ++weights[random() % blocks];
        logs[0].push_back(std::log(std::max(mean(weights), min_value)));
        for (std::size_t k = 0; k < percents.size(); ++k)
            logs[k + 1].push_back(std::log(std::max(row_values_[row_of(percents[k], weights)], min_value)));
    }
    for (std::size_t k = 0; k < estimates.size(); ++k)
        estimates[k].log_error *= standard_deviation(logs[k]);
    return estimates;
}

}  // namespace stapgen::study
