// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/outliers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "kinds/latency/latency.h"
#include "study/factors.h"

namespace stapgen::study {

namespace {

/// Counts by bin, from which a host can be taken away again.
class Bins {
  public:
    void add(const table::Histogram& values, std::int64_t times) {
        if (counts_.empty()) counts_.resize(schema::bins::count + 1);
        n_ += times * values.n();
        values.for_each_bin(
            [&](int bin, std::int64_t count) { counts_[static_cast<std::size_t>(bin)] += times * count; });
        counts_.back() += times * values.above();
    }
    /// Nothing where there are not enough values.
    [[nodiscard]] std::optional<double> percentile(double percent) const {
        if (n_ < table::values_needed(percent)) return std::nullopt;
        auto left = table::nearest_rank(n_, percent);
        for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
            left -= counts_[bin];
            if (left <= 0) return std::max(least_ns, static_cast<double>(schema::bins::middle(static_cast<int>(bin))));
        }
        return std::nullopt;
    }

  private:
    std::vector<std::int64_t> counts_;
    std::int64_t n_ = 0;
};

/// A stage and a percentile, of each member.
struct Row {
    std::size_t stage = 0;
    const table::Percentile* percentile = nullptr;
    std::vector<std::optional<double>> values_ns;
};

class Finder {
  public:
    Finder(std::span<const Member> members, const std::vector<table::Percentile>& percentiles, double threshold)
        : members_(members),
          threshold_(threshold),
          families_(has_factors(members) ? 2 : 1),
          is_different_(members.size()),
          cohort_of_(members.size()) {
        for (std::size_t stage = 0; stage < members.front().stages.size(); ++stage) {
            for (const auto& percentile : percentiles)
                rows_.push_back({stage, &percentile, values_of(stage, percentile.percent)});
        }
        for (std::size_t i = 0; i < members.size(); ++i) {
            for (const auto& cohort : members[i].cohorts)
                cohorts_[cohort].push_back(i);
        }
        for (std::size_t i = 0; i < members.size(); ++i) {
            const auto is_enough = [&](const std::string& cohort) { return cohorts_[cohort].size() > others_needed; };
            const auto found = std::ranges::find_if(members[i].cohorts, is_enough);
            if (found != members[i].cohorts.end()) cohort_of_[i] = &*found;
        }
    }

    std::vector<Deviation> find() {
        for (;;) {
            auto deviations = test_all();
            const auto next = std::ranges::find_if(deviations, [&](const Deviation& deviation) {
                return deviation.stands_out && !is_different_[deviation.member] && may_leave(deviation.member);
            });
            if (next == deviations.end()) return deviations;
            is_different_[next->member] = true;
        }
    }

  private:
    [[nodiscard]] std::vector<std::optional<double>> values_of(std::size_t stage, double percent) const {
        std::vector<std::optional<double>> values;
        for (const auto& member : members_) {
            Bins one;
            one.add(member.stages[stage].stats, 1);
            values.push_back(one.percentile(percent));
        }
        return values;
    }

    /// Whether its cohort has enough others without it.
    [[nodiscard]] bool may_leave(std::size_t member) const {
        const auto& cohort = cohorts_.at(*cohort_of_[member]);
        const auto left = std::ranges::count_if(cohort, [&](std::size_t each) { return !is_different_[each]; });
        return static_cast<std::size_t>(left) > others_needed;
    }

    [[nodiscard]] std::vector<std::size_t> others_of(std::size_t member) const {
        std::vector<std::size_t> others;
        for (const auto other : cohorts_.at(*cohort_of_[member])) {
            if (other != member && !is_different_[other]) others.push_back(other);
        }
        return others;
    }

    std::vector<Deviation> test_all() {
        std::vector<Deviation> deviations;
        sums_.clear();
        for (std::size_t member = 0; member < members_.size(); ++member) {
            if (cohort_of_[member] != nullptr) test(member, deviations);
        }
        correct(deviations, threshold_, families_);
        return deviations;
    }

    void test(std::size_t member, std::vector<Deviation>& deviations) {
        const auto others = others_of(member);
        std::vector<Deviation> found;
        std::vector<double> variances, degrees, own;
        for (const auto& row : rows_) {
            const auto value = row.values_ns[member], center = center_of(row, member);
            if (!value || !center) continue;
            double squares = 0, n = 0, of_others = 0;
            for (const auto other : others) {
                if (!row.values_ns[other]) continue;
                squares += std::pow(std::log(*row.values_ns[other] / *center), 2);
                of_others += drawn_of(row, other);
                ++n;
            }
            if (n < static_cast<double>(others_needed)) continue;
            own.push_back(std::max(0.0, drawn_of(row, member) - of_others / n));
            const auto& stage = members_[member].stages[row.stage];
            auto& deviation = found.emplace_back();
            deviation.member = member;
            deviation.host = members_[member].name;
            deviation.stage = stage.name;
            deviation.statistic = row.percentile->text;
            deviation.n = stage.stats.n();
            deviation.value_ns = *value;
            deviation.others_ns = *center;
            deviation.others = others.size();
            deviation.cohort = *cohort_of_[member];
            deviation.change = *value / *center - 1;
            variances.push_back(squares / (n - 1));
            degrees.push_back(n - 1);
        }
        for (std::size_t i = 0; i < found.size(); ++i)
            state(found[i], variances[i], degrees[i], own[i], prior_of(found, variances, found[i].statistic));
        deviations.insert(deviations.end(), found.begin(), found.end());
    }

    /// The variance of a host's percentile by its own values, on a scale of logarithms: of its 95 % interval.
    [[nodiscard]] double drawn_of(const Row& row, std::size_t member) const {
        constexpr double widths = 2 * 1.96;
        const auto& stats = members_[member].stages[row.stage].stats;
        const auto ranks = table::confidence_ranks(stats.n(), row.percentile->percent);
        if (!ranks) return 0;
        const auto log_at = [&](std::int64_t rank) {
            return std::log(std::max(least_ns, static_cast<double>(stats.value_at(rank))));
        };
        return std::pow((log_at(ranks->high) - log_at(ranks->low)) / widths, 2);
    }

    /// `own`: what the host's own error is more than the others', where it has fewer values. Theirs is in how they
    /// differ.
    static void state(Deviation& deviation, double variance, double degrees, double own, double prior) {
        const double drawn = drawn_variance(variance * degrees, degrees, prior);
        const double error = std::sqrt(drawn * (1 + 1 / (degrees + 1)) + own + rounding_variance);
        deviation.set({std::log1p(deviation.change), error, prior_degrees + degrees});
    }

    /// Of the others' values together.
    std::optional<double> center_of(const Row& row, std::size_t member) {
        auto [found, is_new] = sums_.try_emplace({*cohort_of_[member], row.stage});
        auto& sum = found->second;
        const auto& of_stage = [&](std::size_t each) -> const table::Histogram& {
            return members_[each].stages[row.stage].stats;
        };
        if (is_new) {
            for (const auto each : cohorts_.at(*cohort_of_[member])) {
                if (!is_different_[each]) sum.add(of_stage(each), 1);
            }
        }
        if (!is_different_[member]) sum.add(of_stage(member), -1);
        const auto center = sum.percentile(row.percentile->percent);
        if (!is_different_[member]) sum.add(of_stage(member), 1);
        return center;
    }

    std::span<const Member> members_;
    double threshold_, families_;
    std::vector<Row> rows_;
    std::vector<char> is_different_;
    std::map<std::string, std::vector<std::size_t>> cohorts_;
    std::vector<const std::string*> cohort_of_;  ///< null: none is large enough
    std::map<std::pair<std::string, std::size_t>, Bins> sums_;
};

}  // namespace

std::vector<Stage> compared_stages(const kinds::Measured& measured) {
    std::vector<Stage> stages;
    for (const auto& [name, stats] : kinds::latency::whole_of(measured.of<rows::Stage>()))
        stages.push_back({name, *stats});
    for (const auto& [way, of_way, breakdown] : measured.of<rows::Breakdown>()) {
        const auto name = kinds::latency::total_name(*breakdown);
        if (std::ranges::find(stages, name, &Stage::name) == stages.end()) stages.push_back({name, breakdown->total()});
    }
    return stages;
}

void align_stages(std::vector<Member>& members) {
    std::vector<std::string> names;
    for (const auto& member : members) {
        for (const auto& stage : member.stages) {
            if (std::ranges::find(names, stage.name) == names.end()) names.push_back(stage.name);
        }
    }
    for (auto& member : members) {
        std::vector<Stage> stages;
        for (const auto& name : names) {
            const auto known = std::ranges::find(member.stages, name, &Stage::name);
            stages.push_back(known == member.stages.end() ? Stage{name} : std::move(*known));
        }
        member.stages = std::move(stages);
    }
}

std::vector<Deviation> find_outliers(std::span<const Member> members, const std::vector<table::Percentile>& percentiles,
                                     double threshold) {
    if (members.empty()) return {};
    return Finder(members, percentiles, threshold).find();
}

}  // namespace stapgen::study
