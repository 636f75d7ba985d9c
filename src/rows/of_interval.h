// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include "table/row.h"

namespace stapgen::rows {

using table::First, table::Key, table::Continues, table::Sum, table::Smallest, table::Largest, table::Same,
    table::Separate, table::Ns, table::Moment, table::Mean, table::MeanNs, table::Share, table::Benign, table::Known,
    table::Shown, table::In, table::Shape, table::About;

/// A row of one interval, where a `Row` is of all of them together. Documents have these.
template <class Row>
struct OfInterval : Row {
    std::optional<std::int64_t> time{};  ///< when it ended
    std::int64_t interval = 0;

    static constexpr About about{.name = Row::about.name,
                                 .row_name = Row::about.has_interval_rows ? Row::about.row_name : "",
                                 .shape = Shape::rows,
                                 .is_rare = Row::about.is_rare};
    static constexpr void columns(auto&& column) {
        column(Largest(), Moment("time"), &OfInterval::time, Shown{.place = 1, .heading = "ENDED", .is_head = true});
        column(Continues(), "interval", &OfInterval::interval);
        Row::columns(column);
    }
};

template <class Row>
inline constexpr bool is_of_interval = false;
template <class Row>
inline constexpr bool is_of_interval<OfInterval<Row>> = true;

}  // namespace stapgen::rows
