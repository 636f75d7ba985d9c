// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "rows/of_interval.h"
#include "table/cells.h"
#include "table/keys.h"

namespace stapgen::rows {

/// Packets of one group dropped at one place for one reason. A recipe has them, or not: where it has, no row is a
/// result, too.
struct Drop {
    table::Place place{};
    table::Reason reason{};
    table::Group group{};
    std::int64_t count = 0;
    bool benign = false;   ///< no packet is lost by it
    std::string advice{};  ///< what is known of the place and the reason

    static constexpr About about{.name = "drops", .row_name = "drop", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "place", &Drop::place, Shown{.place = 3, .heading = "LOCATION", .is_head = true});
        column(Key(), "reason", &Drop::reason, Shown{.place = 4, .heading = "REASON"});
        column(Key(), "group", &Drop::group, Shown{.place = 5});
        column(Sum(), "count", &Drop::count, Shown{.place = 2, .heading = "COUNT"});
        column(First(), Benign("benign"), &Drop::benign);
        column(First(), "advice", &Drop::advice, Shown{.in = In::hidden});
    }
};

/// Packets dropped for one reason on one call path. A path without frames: further paths.
struct Stack {
    table::Reason reason{};
    std::int64_t count = 0;
    table::Shared<table::Path> frames{};

    static constexpr About about{
        .name = "stacks", .row_name = "stack", .shape = Shape::none, .is_rare = true, .has_interval_rows = false};
    static constexpr void columns(auto&& column) {
        column(Key(), "reason", &Stack::reason, Shown{.place = 2, .heading = "REASON", .is_head = true});
        column(Sum(), "count", &Stack::count, Shown{.place = 1, .heading = "COUNT"});
        column(Key(), "frames", &Stack::frames, Shown{.place = 3, .heading = "PATH"});
    }
};

/// Benign drops that have no rows: of the rows of intervals.
struct HiddenDrops {
    std::int64_t rows = 0, count = 0;
    bool benign = true;

    static constexpr About about{.name = "benign_not_shown", .shape = Shape::record};
    static constexpr void columns(auto&& column) {
        column(Sum(), "rows", &HiddenDrops::rows, Shown{.in = In::documents});
        column(Sum(), "count", &HiddenDrops::count);
        column(First(), Benign("benign"), &HiddenDrops::benign, Shown{.in = In::rows});
    }
};
/// Of all intervals together.
struct HiddenTotals : HiddenDrops {
    static constexpr About about{.name = "benign_not_shown", .row_name = "drops-not-shown", .shape = Shape::none};
};
/// By interval and reason.
struct HiddenOfInterval {
    std::int64_t interval = 0;
    table::Reason reason{};
    std::int64_t rows = 0, count = 0;

    static constexpr About about{.name = "benign_by_interval", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "interval", &HiddenOfInterval::interval);
        column(Key(), "reason", &HiddenOfInterval::reason);
        column(Sum(), "rows", &HiddenOfInterval::rows);
        column(Sum(), "count", &HiddenOfInterval::count);
    }
};

/// What is known of drops, each once.
struct Advice {
    std::optional<std::string> reason{}, function{};  ///< the second where it is about one function
    bool benign = false;
    std::int64_t count = 0;
    std::string text{};

    static constexpr About about{.name = "advice"};
    static constexpr void columns(auto&& column) {
        column(Key(), "reason", &Advice::reason, Shown{.place = 1, .heading = "REASON", .is_head = true});
        column(Key(), "function", &Advice::function, Shown{.place = 1, .heading = "REASON", .joint = " in "});
        column(First(), Benign("benign"), &Advice::benign);
        column(Sum(), "count", &Advice::count, Shown{.place = 2, .heading = "DROPS"});
        column(First(), "text", &Advice::text, Shown{.place = 3, .heading = "ADVICE"});
    }
};

}  // namespace stapgen::rows
