// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/factors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace stapgen::study {

namespace {

using Hosts = std::vector<std::size_t>;
using Factor = std::map<std::string, Hosts>;  ///< by level
using Factors = std::map<std::string, Factor>;

/// Two levels of one factor.
struct Pair {
    std::string factor, level, base;
    std::array<Hosts, 2> hosts;  ///< of the level, of the base
    std::vector<std::string> same_hosts;
};

/// A stage and a percentile: the logarithms of all members.
struct HostLogs {
    std::string stage, statistic;
    std::vector<std::optional<double>> logs;
};

/// What hosts of one level say of a row.
struct HostSide {
    double n = 0, squares = 0, degrees = 0;
    double part = 0;  ///< of its variance that is in the estimate's

    [[nodiscard]] double variance() const { return squares / degrees; }
};

/// The mean distance of two levels within blocks, each block as heavy as it is sure.
struct Distance {
    std::array<HostSide, 2> sides;
    double distance = 0, base = 0;

    Distance(const std::vector<std::array<Hosts, 2>>& blocks, const HostLogs& row) {
        double weights = 0, bases = 0;
        for (const auto& block : blocks) {
            std::array<double, 2> n{}, mean{}, squares{};
            for (std::size_t side = 0; side < 2; ++side) {
                const auto add_all = [&](auto add) {
                    for (const auto host : block[side]) {
                        if (row.logs[host]) add(*row.logs[host]);
                    }
                };
                add_all([&](double value) { mean[side] += value, ++n[side]; });
                mean[side] /= n[side];
                add_all([&](double value) { squares[side] += std::pow(value - mean[side], 2); });
            }
            if (n[0] == 0 || n[1] == 0) continue;
            const double weight = n[0] * n[1] / (n[0] + n[1]);
            weights += weight;
            distance += weight * (mean[0] - mean[1]);
            bases += n[1] * mean[1];
            for (std::size_t side = 0; side < 2; ++side) {
                sides[side].n += n[side];
                sides[side].squares += squares[side];
                sides[side].degrees += n[side] - 1;
                sides[side].part += weight * weight / n[side];
            }
        }
        distance /= weights;
        base = bases / sides[1].n;
        for (auto& side : sides)
            side.part /= weights * weights;
    }

    [[nodiscard]] bool is_enough() const {
        const auto is_enough = [](const HostSide& side) { return side.n >= static_cast<double>(hosts_needed); };
        return std::ranges::all_of(sides, is_enough) && degrees() > 0;
    }
    [[nodiscard]] double degrees() const { return sides[0].degrees + sides[1].degrees; }
    [[nodiscard]] double variance() const { return (sides[0].squares + sides[1].squares) / degrees(); }

    void put_into(Contrast& contrast, double prior) const {
        double variance = 0, of_variance = 0;  // Welch and Satterthwaite
        for (const auto& side : sides) {
            const double part = side.part * drawn_variance(side.squares, side.degrees, prior);
            variance += part;
            of_variance += part * part / (prior_degrees + side.degrees);
        }
        contrast.base_ns = std::exp(base);
        contrast.value_ns = std::exp(base + distance);
        contrast.change = std::expm1(distance);
        contrast.set({distance, std::sqrt(variance), variance * variance / of_variance});
    }
};

/// By what the hosts run: compared are durations of one recipe with the same filters.
std::map<std::string, Factors> factors_of(std::span<const Member> members) {
    std::map<std::string, Factors> all;
    for (std::size_t host = 0; host < members.size(); ++host) {
        for (const auto& [factor, level] : members[host].levels)
            all[members[host].cohorts.back()][factor][level].push_back(host);
    }
    return all;
}

class ContrastFinder {
  public:
    ContrastFinder(std::span<const Member> members, std::span<const Deviation> deviations,
                   const std::vector<table::Percentile>& percentiles, double threshold)
        : members_(members), threshold_(threshold) {
        for (std::size_t stage = 0; stage < members.front().stages.size(); ++stage) {
            for (const auto& percentile : percentiles)
                rows_.push_back({members.front().stages[stage].name, percentile.text, logs_of(stage, percentile)});
        }
        exclude(deviations);
        for (const auto& [recipe, factors] : factors_of(members)) {
            for (const auto& [name, factor] : factors)
                add_pairs(name, factor, factors);
        }
    }

    FactorEffects find() {
        for (;;) {
            auto effects = test_all();
            const auto next = std::ranges::find_if(effects.contrasts, [&](const Contrast& contrast) {
                return contrast.stands_out && std::ranges::find(blocks_, contrast.factor) == blocks_.end();
            });
            if (next == effects.contrasts.end()) return effects;
            blocks_.push_back(next->factor);
        }
    }

  private:
    [[nodiscard]] std::vector<std::optional<double>> logs_of(std::size_t stage,
                                                             const table::Percentile& percentile) const {
        std::vector<std::optional<double>> logs;
        for (const auto& member : members_) {
            const auto value = member.stages[stage].stats.percentile(percentile.percent);
            logs.push_back(value ? std::optional(std::log(std::max(least_ns, static_cast<double>(*value))))
                                 : std::nullopt);
        }
        return logs;
    }

    [[nodiscard]] std::string level_of(std::size_t host, const std::string& factor) const {
        const auto found = members_[host].levels.find(factor);
        return found == members_[host].levels.end() ? "" : found->second;
    }

    /// A host that stands out of those that have its level is no example of it. One that stands out of others may do so
    /// by its level.
    void exclude(std::span<const Deviation> deviations) {
        for (const auto& deviation : deviations) {
            if (!deviation.stands_out) continue;
            for (const auto& [factor, level] : members_[deviation.member].levels) {
                const bool has_one_level = std::ranges::all_of(members_, [&](const Member& other) {
                    const bool is_in = std::ranges::find(other.cohorts, deviation.cohort) != other.cohorts.end();
                    const auto found = other.levels.find(factor);
                    return !is_in || (found != other.levels.end() && found->second == level);
                });
                if (has_one_level) excluded_.emplace(deviation.member, factor);
            }
        }
    }

    void add_pairs(const std::string& name, const Factor& factor, const Factors& factors) {
        if (factor.size() < 2) return;
        Factor known;
        for (const auto& [level, hosts] : factor) {
            auto kept = hosts;
            std::erase_if(kept, [&](std::size_t host) { return excluded_.contains({host, name}); });
            if (kept.size() >= hosts_needed) known.emplace(level, std::move(kept));
        }
        if (factor.size() > known.size()) untold_[name] += factor.size() - known.size();
        if (known.size() < 2) return;
        const auto base = std::ranges::max_element(known, {}, [](const auto& each) { return each.second.size(); });
        for (const auto& [level, hosts] : known) {
            if (level == base->first) continue;
            Pair pair{name, level, base->first, {hosts, base->second}, {}};
            const auto twin = std::ranges::find(pairs_, pair.hosts, &Pair::hosts);
            if (twin != pairs_.end()) {
                goes_with_[name] = twin->factor;
                continue;
            }
            for (const auto& [other, levels] : factors) {
                for (const auto& [of_other, others] : levels) {
                    if (other != name && others == factor.at(level)) pair.same_hosts.push_back(of_other);
                }
            }
            pairs_.push_back(std::move(pair));
        }
    }

    FactorEffects test_all() {
        FactorEffects effects{{}, goes_with_, untold_};
        std::set<std::string> tested;
        for (const auto& pair : pairs_) {
            const auto found = test(pair);
            if (!found.empty()) tested.insert(pair.factor);
            effects.contrasts.insert(effects.contrasts.end(), found.begin(), found.end());
        }
        for (const auto& pair : pairs_) {
            const auto within = within_of(pair.factor);
            if (!within.empty() && !tested.contains(pair.factor)) effects.goes_with.emplace(pair.factor, within.back());
        }
        std::erase_if(effects.goes_with, [&](const auto& each) { return tested.contains(each.first); });
        correct(effects.contrasts, threshold_, 2);
        return effects;
    }

    /// The factors that were found before this one.
    [[nodiscard]] std::vector<std::string> within_of(const std::string& factor) const {
        return {blocks_.begin(), std::ranges::find(blocks_, factor)};
    }

    [[nodiscard]] std::vector<Contrast> test(const Pair& pair) const {
        const auto within = within_of(pair.factor);
        std::map<std::vector<std::string>, std::array<Hosts, 2>> by_levels;
        for (std::size_t side = 0; side < 2; ++side) {
            for (const auto host : pair.hosts[side]) {
                std::vector<std::string> levels;
                for (const auto& factor : within)
                    levels.push_back(level_of(host, factor));
                by_levels[levels][side].push_back(host);
            }
        }
        std::vector<std::array<Hosts, 2>> blocks;
        for (const auto& [levels, hosts] : by_levels)
            blocks.push_back(hosts);

        std::vector<Contrast> found;
        std::vector<Distance> estimates;
        std::vector<double> variances;
        for (const auto& row : rows_) {
            const Distance estimate(blocks, row);
            if (!estimate.is_enough()) continue;
            auto& contrast = found.emplace_back();
            contrast.factor = pair.factor;
            contrast.level = pair.level;
            contrast.base = pair.base;
            contrast.stage = row.stage;
            contrast.statistic = row.statistic;
            contrast.hosts = static_cast<std::size_t>(estimate.sides[0].n);
            contrast.base_hosts = static_cast<std::size_t>(estimate.sides[1].n);
            contrast.same_hosts = pair.same_hosts;
            contrast.within = within;
            estimates.push_back(estimate);
            variances.push_back(estimate.variance());
        }
        for (std::size_t i = 0; i < found.size(); ++i)
            estimates[i].put_into(found[i], prior_of(found, variances, found[i].statistic));
        return found;
    }

    std::span<const Member> members_;
    double threshold_;
    std::vector<HostLogs> rows_;
    std::set<std::pair<std::size_t, std::string>> excluded_;  ///< host and factor
    std::vector<Pair> pairs_;
    std::vector<std::string> blocks_;  ///< factors with a level that stands out, in their order
    std::map<std::string, std::string> goes_with_;
    std::map<std::string, std::size_t> untold_;
};

}  // namespace

bool has_factors(std::span<const Member> members) {
    for (const auto& [recipe, factors] : factors_of(members)) {
        for (const auto& [name, factor] : factors) {
            const auto is_enough = [](const auto& level) { return level.second.size() >= hosts_needed; };
            if (std::ranges::count_if(factor, is_enough) > 1) return true;
        }
    }
    return false;
}

FactorEffects compare_factors(std::span<const Member> members, std::span<const Deviation> deviations,
                              const std::vector<table::Percentile>& percentiles, double threshold) {
    if (members.empty()) return {};
    return ContrastFinder(members, deviations, percentiles, threshold).find();
}

}  // namespace stapgen::study
