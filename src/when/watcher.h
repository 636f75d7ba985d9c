// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "decode/record.h"
#include "table/histogram.h"
#include "when/condition.h"

namespace stapgen::when {

/// A condition that holds.
struct Met {
    std::size_t condition = 0;  ///< its place among those of the watcher
    std::int64_t value = 0;     ///< of what it is about
    std::int64_t epoch_ns = 0;  ///< the end of the window
    bool anew = true;           ///< it did not hold at the end of the interval before
};

/// Looks at what a measurement gives out, for each condition at the end of each interval: of a script that aggregates
/// an interval ends with each of its lines of counts, and single records are put into intervals by their time.
class Watcher {
  public:
    /// `live`: single records come as they happen, and count in the interval that they come in.
    explicit Watcher(std::vector<Condition> conditions, bool live = false);

    /// The names of drop reasons, by which conditions have them; before the line `ready`.
    void name_reasons(std::map<std::int64_t, std::string> names) { reasons_ = std::move(names); }
    /// From the line `ready` on: why a condition cannot be of these records.
    [[nodiscard]] const std::optional<base::Error>& refusal() const { return refusal_; }
    /// In their order. Those that hold at the end of an interval that the line closes.
    std::vector<Met> add(const decode::Line& line);
    void add(const decode::Record& record);
    /// Of single records, once all were added: each moment at which one holds.
    [[nodiscard]] std::vector<Met> of_records() const;
    /// A sentence for each condition: how often it held, when first, and with which value.
    [[nodiscard]] std::vector<std::string> held() const;

    [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
    /// Intervals of single records that were left out, since there are too many.
    [[nodiscard]] bool is_over_limit() const { return over_limit_; }

  private:
    /// Of one condition in one interval.
    struct Seen {
        std::int64_t begin_ns = 0, end_ns = 0;
        table::Histogram histogram;
        std::int64_t max = -1, rise = 0;

        void operator+=(const Seen& later);
    };
    /// When one held.
    struct Held {
        std::vector<Met> first;
        std::int64_t times = 0, largest = 0;

        void add(const Met& met);
    };
    struct Watch {
        Seen current;
        std::deque<Seen> window;
        std::optional<std::int64_t> count;  ///< the last total
        bool holds = false;
        Held held{};
        std::map<std::int64_t, Seen> of_records;  ///< by the number of their interval
    };

    void begin(const decode::Ready& ready);
    void take(const decode::BinsLine& line);
    void take(const decode::SumLine& line);
    /// How much a record adds to a condition that counts.
    [[nodiscard]] std::int64_t rise_of(const Condition& condition, const decode::Record& record) const;
    std::vector<Met> close(std::int64_t epoch_ns, std::span<const decode::Count> counts);
    [[nodiscard]] static std::optional<std::int64_t> value_of(const Condition& condition,
                                                              const std::deque<Seen>& window);
    [[nodiscard]] bool is_of(const Condition& condition, const decode::Schema& schema, std::size_t field) const;

    std::vector<Condition> conditions_;
    std::vector<Watch> watches_;
    std::optional<decode::Ready> ready_;
    std::int64_t closed_ns_ = 0;
    const decode::Header* header_ = nullptr;
    std::optional<base::Error> refusal_;
    std::map<std::int64_t, std::string> reasons_;
    bool is_live_, over_limit_ = false;
};

}  // namespace stapgen::when
