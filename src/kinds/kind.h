// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/saturate.h"
#include "decode/record.h"
#include "kinds/measured.h"

namespace stapgen::kinds {

/// What a user may say of all kinds.
struct Settings {
    /// Names of fields of the header's own records, or "port" where they have an endpoint `local`; empty: the whole
    /// only.
    std::vector<std::string> group_by;
    std::size_t max_groups = 512;    ///< limit of distinct ones; the rest is the group "other"
    std::size_t slowest = 10;        ///< number of records kept per direction
    std::int64_t resolution_ns = 1;  ///< stages are multiples of it
    bool keep_intervals = false;     ///< whether Kind::put_interval() is called
    bool keep_series = true;         ///< whether there are rows::Series, which take megabytes
    bool explains = false;           ///< whether there are rows::OwnerTime
    bool explains_groups = false;    ///< whether there are rows::GroupBreakdown, which take megabytes
};

/// The kernel's clock, which times of records are of, and the time of day.
struct Clocks {
    std::optional<decode::Ready> ready;
    std::optional<std::int64_t> interval_start;  ///< of the open interval, since 1970

    /// From the first to the second.
    [[nodiscard]] std::int64_t shift() const {
        return ready ? base::saturating_subtract(ready->epoch_ns, ready->monotonic_ns) : 0;
    }
};

/// How results are asked for.
struct Asked {
    bool hide_benign = false;                ///< benign drops are counted, and have no rows
    std::optional<std::int64_t> interval{};  ///< these are of one interval, counted from 0
};

/// The number of the interval that these rows are of.
void set_interval(auto& rows, const Asked& asked) {
    if (!asked.interval) return;
    for (auto& row : rows)
        row.interval = *asked.interval;
}

/// A kind of measurement: what it makes of records. Each has a folder here, with make() and
/// put_results(), and a line in analyze/kinds.cpp. One thread;
/// memory has a limit, whatever the input says.
class Kind {
  public:
    Kind() = default;
    Kind(const Kind&) = delete;
    Kind& operator=(const Kind&) = delete;
    virtual ~Kind() = default;

    /// Whether it has a use for records of this schema. Called once for each, in the order of their numbers.
    virtual bool takes(const decode::Schema& schema) = 0;
    virtual void add(const decode::Record& record) = 0;
    /// What is no record.
    virtual void add_line(const decode::Line& /*line*/) {}
    /// At a tick or the end: what the kernel aggregated since the last one becomes a part of the open interval. Returns
    /// the number of its records; nothing where the script does not aggregate.
    virtual std::optional<std::int64_t> settle(const Clocks& /*clocks*/, std::optional<std::int64_t> /*epoch_ns*/) {
        return std::nullopt;
    }
    /// The open interval becomes a part of the whole.
    virtual void close_interval() {}

    /// The tables of everything. `is_open`: records came since the last interval was closed.
    virtual void put_into(Measured& measured, const Clocks& clocks, bool is_open) const = 0;
    /// The tables of the open interval, which ends at `end_epoch_ns`.
    virtual void put_interval(Measured& /*measured*/, std::optional<std::int64_t> /*end_epoch_ns*/) const {}
};

}  // namespace stapgen::kinds
