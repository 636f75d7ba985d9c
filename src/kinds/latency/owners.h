// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "decode/group_keys.h"
#include "kinds/latency/plan.h"
#include "kinds/text_map.h"
#include "rows/latency.h"

namespace stapgen::kinds {

/// Whose records wait for what: what each thread, process, connection and peer took for each stage and part. Of each
/// kind of owner the first `max_keys` have sums of their own, as long as all together have `max_sums`; the others are
/// one: {"other": true}.
class Owners {
  public:
    static constexpr std::size_t max_keys = 4096, max_sums = std::size_t{1} << 19U;

    /// Called once for each schema, in the order of their numbers.
    void takes(const decode::Schema& schema);
    void add(const decode::Record& record, const Plan& plan);
    [[nodiscard]] std::vector<rows::OwnerTime> times(const std::vector<MeasureName>& measures) const;

  private:
    struct Sums {
        std::int64_t n = 0;
        double sum_ns = 0, squares = 0;
    };
    struct Owner {
        table::Group group;
        std::vector<Sums> measures;
    };
    static constexpr std::size_t kinds = 4;
    using Keys = std::array<std::vector<decode::GroupKey>, kinds>;

    /// With sums for that many measures.
    Owner& owner(std::size_t kind, const decode::Record& record, const std::vector<decode::GroupKey>& keys,
                 std::size_t measures);

    std::vector<Keys> keys_;  ///< by schema; none where its records do not say it
    std::array<TextMap<Owner>, kinds> owners_;
    std::array<std::optional<Owner>, kinds> others_;
    std::size_t sums_ = 0;
    std::string key_;  ///< kept for its memory
};

/// Of each stage and part, and of each kind of owner, the one that stands out: it has less than a quarter of the
/// records, two thirds of what owners take beyond the mean of all, at least twice the mean of the others, and a
/// difference from that of four standard errors, so that a few long waits of one connection are no reason. Of
/// a kind whose owners had not all room there is one of no stage, whose group is {"other": true}.
std::vector<rows::StandOut> stand_outs_of(const table::TableOf<rows::OwnerTime>& times);

}  // namespace stapgen::kinds
