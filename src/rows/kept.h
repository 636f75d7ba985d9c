// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rows/of_interval.h"
#include "table/keys.h"

namespace stapgen::rows {

/// A stage, or a part of one, that took longer or shorter at the moment of a condition than before. Means are of the
/// packets that were in its stage.
struct ChangeAtMoment {
    std::string part{};
    std::int64_t n_before = 0, n_at = 0;
    double before_ns = 0, at_ns = 0;
    std::string owner{};  ///< the kind of those below: "connection"; empty: not known
    std::optional<std::int64_t> owners{}, owners_changed{};  ///< that had packets there at the moment; for how many of
                                                             ///< them it clearly changed
    std::optional<double> change_of_changed_ns{};            ///< of the mean of their packets

    static constexpr About about{.name = "changes"};
    static constexpr void columns(auto&& column) {
        column(Key(), "part", &ChangeAtMoment::part);
        column(Separate(), "n_before", &ChangeAtMoment::n_before);
        column(Separate(), "n_at", &ChangeAtMoment::n_at);
        column(Separate(), Mean("before_ns"), &ChangeAtMoment::before_ns);
        column(Separate(), Mean("at_ns"), &ChangeAtMoment::at_ns);
        column(Separate(), Known("owner"), &ChangeAtMoment::owner);
        column(Separate(), "owners", &ChangeAtMoment::owners);
        column(Separate(), "owners_changed", &ChangeAtMoment::owners_changed);
        column(Separate(), Mean("change_of_changed_ns"), &ChangeAtMoment::change_of_changed_ns);
    }
};

/// Why and when the records of some seconds were kept (--keep), and what differs at that moment from before.
struct Kept {
    std::string condition{}, value{};  ///< value: empty: not known
    std::int64_t at = 0;               ///< ns since 1970
    std::int64_t before_ns = 0, after_ns = 0;
    std::int64_t missing_ns = 0;  ///< of those before, which had no room
    std::int64_t unkept = 0;
    std::int64_t moment_before_ns = 0, moment_after_ns = 0;  ///< the records of the moment are those from so long
                                                             ///< before it to so long after it
    std::optional<std::int64_t> n_before{}, n_at{};          ///< records that were compared
    std::string result{};                                    ///< "changed", "same"; empty: that is not known
    std::string sentence{};                                  ///< which; empty: nothing was compared
    std::vector<ChangeAtMoment> changes{};                   ///< the largest first

    static constexpr About about{.name = "kept", .row_name = "kept", .is_rare = true};
    static constexpr void columns(auto&& column) {
        column(Key(), "condition", &Kept::condition);
        column(Separate(), Known("value"), &Kept::value);
        column(Separate(), Moment("at"), &Kept::at);
        column(Separate(), "before_ns", &Kept::before_ns);
        column(Separate(), "after_ns", &Kept::after_ns);
        column(Separate(), "missing_ns", &Kept::missing_ns);
        column(Separate(), "unkept", &Kept::unkept);
        column(Separate(), "moment_before_ns", &Kept::moment_before_ns);
        column(Separate(), "moment_after_ns", &Kept::moment_after_ns);
        column(Separate(), "n_before", &Kept::n_before);
        column(Separate(), "n_at", &Kept::n_at);
        column(Separate(), Known("result"), &Kept::result);
        column(Separate(), Known("sentence"), &Kept::sentence);
        column(Separate(), "changes", &Kept::changes, Shown{.row_name = "change"});
    }
};

/// A condition that keeps the seconds before the next time of what a recording shows, chosen by its values.
struct Proposal {
    std::string condition{};      ///< as --when takes it
    std::int64_t intervals = 0;   ///< in which its value is known
    std::int64_t held = 0;        ///< of these
    std::int64_t times = 0;       ///< how often it began to hold
    std::int64_t largest_ns = 0;  ///< of the values

    static constexpr About about{.name = "proposal", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Key(), "condition", &Proposal::condition);
        column(Separate(), "intervals", &Proposal::intervals);
        column(Separate(), "held", &Proposal::held);
        column(Separate(), "times", &Proposal::times);
        column(Separate(), "largest_ns", &Proposal::largest_ns);
    }
};

}  // namespace stapgen::rows
