// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rows/of_interval.h"
#include "table/counter_tracks.h"
#include "table/keys.h"

namespace stapgen::rows {

/// How much was counted of one group. Whoever has the recipe fills in what it means.
struct Count {
    std::optional<std::string> counted{};  ///< what: "pages"
    table::Group group{};
    std::int64_t count = 0;
    std::optional<std::string> meaning{};
    bool loss = false;              ///< something was lost where this is counted
    bool loss_by_name = false;      ///< its name says so, and nobody has looked it up
    std::optional<double> per_s{};  ///< where it is known over what time it was counted, and that is not the interval

    static constexpr About about{.name = "counts", .row_name = "count", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "counted", &Count::counted, Shown{.in = In::rows});
        column(Key(), "group", &Count::group, Shown{.place = 4});
        column(Sum(), "count", &Count::count, Shown{.place = 2});  // its heading is what was counted
        column(First(), "meaning", &Count::meaning,
               Shown{.place = 6, .heading = "WHAT", .if_any = true, .on_page_only = true, .in = In::documents});
        column(First(), "loss", &Count::loss, loss_shown("lost", true));
        column(First(), "loss_by_name", &Count::loss_by_name, loss_shown("by name", false));
        column(Same(), "per_s", &Count::per_s,
               Shown{.place = 3, .heading = "PER S", .if_any = true, .in = In::documents, .is_rare = true});
    }
    static constexpr Shown loss_shown(std::string_view text, bool is_alarm) {
        return {.place = 5,
                .heading = "LOSS",
                .if_true = text,
                .if_any = true,
                .is_alarm = is_alarm,
                .in = In::documents,
                .is_rare = !is_alarm};
    }
};

/// What all counts are.
struct Counting {
    std::optional<std::string> counted{};  ///< nothing: there are none
    bool mixed_units = false;  ///< they are of bytes, packets and times, so that no sum of them means anything
    bool levels = false;       ///< they are values of counters, because there was one sample, or none rose
    std::optional<std::int64_t> counters_read{};

    static constexpr About about{.name = "counting", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Largest(), "counted", &Counting::counted);
        column(Largest(), "mixed_units", &Counting::mixed_units);
        column(Largest(), "levels", &Counting::levels);
        column(Largest(), "counters_read", &Counting::counters_read);
    }
};
// What documents have of it.
struct Counted {
    std::optional<std::string> counted{};

    static constexpr About about{.name = "counted", .shape = Shape::fields};
    static constexpr void columns(auto&& column) { column(Same(), "counted", &Counted::counted); }
};
struct CountersRead {
    std::optional<std::int64_t> counters_read{};

    static constexpr About about{.name = "counters_read", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Same(), "counters_read", &CountersRead::counters_read, Shown{.is_rare = true});
    }
};

/// Counters as they were read.
struct Readings {
    table::CounterTracks tracks{};

    static constexpr About about{.name = "readings", .shape = Shape::none};
    static constexpr void columns(auto&& column) { column(Sum(), "tracks", &Readings::tracks); }
};

}  // namespace stapgen::rows
