// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <string_view>
#include <tuple>

#include "rows/results.h"
#include "show/model/table.h"

/// What people see of a measurement, in the order in which text, page and live view have it. A section says what it is
/// called, and when there is something to show. Each of the three has a `draw` for each type of section, or does not
/// compile; where one leaves a section out, that returns NotHere.
namespace stapgen::show {

struct NotHere {
    std::string_view why;
};

/// A table as it is laid out, below what is said of it; where nothing is said, below its caption.
struct Sheet {
    table::Texts sentences{};
    Table table{};
    bool largest_first = false;  ///< text has the first ones, as many as its options say
};

namespace section {

using rows::Results;

/// Is shown where there is such a row.
template <class Row>
struct Of {
    static bool is_in(const Results& results) { return !results.of<Row>().empty(); }
};

struct Calls : Of<rows::Call> {
    static constexpr std::string_view id = "calls", heading = "Calls";
};
/// Stages and values of the whole, with what packets waited for in a stage.
struct Stages {
    static constexpr std::string_view id = "stages", heading = "Where the time goes";
    static bool is_in(const Results& results) {
        return Of<rows::Stage>::is_in(results) || Of<rows::Value>::is_in(results);
    }
};
struct Averages : Of<rows::Average> {
    static constexpr std::string_view id = "averages", heading = "Averages";
    static Sheet sheet(const Results& results);
};
struct Tail : Of<rows::Tail> {
    static constexpr std::string_view id = "tail", heading = "Where the tail comes from";
};
/// What takes 5 % of the time or of the tail.
struct Causes : Of<rows::CauseOfWait> {
    static constexpr std::string_view id = "causes", heading = "What was waited for";
};
struct OverTime {
    static constexpr std::string_view id = "time", heading = "Over time";
    static bool is_in(const Results& results) { return !results.series().blocks().empty(); }
};
struct Distribution : Of<rows::Stage> {
    static constexpr std::string_view id = "distribution", heading = "Distribution";
};
struct Slowest : Of<rows::Slowest> {
    static constexpr std::string_view id = "slowest", heading = "The slowest";
};
/// The threads that waited, the worst first.
struct Who : Of<rows::Who> {
    static constexpr std::string_view id = "who", heading = "What threads waited for";
    static Sheet sheet(const Results& results);
};
/// The functions of slow requests' programs, that with most samples first.
struct Functions {
    static constexpr std::string_view id = "functions", heading = "Where programs were";
    static bool is_in(const Results& results) { return !results.sentences.functions.empty(); }
    static Sheet sheet(const Results& results);
};
struct Ledger : Of<rows::Ledger> {
    static constexpr std::string_view id = "ledger", heading = "The ledger";
    static Sheet sheet(const Results& results);
};
/// With their advice and call paths.
struct Drops {
    static constexpr std::string_view id = "drops", heading = "Drops";
    static bool is_in(const Results& results) { return results.counts_drops(); }
};
struct Counts {
    static constexpr std::string_view id = "counts", heading = "Counts";
    static bool is_in(const Results& results) { return results.one<rows::Counting>().counted.has_value(); }
};
/// The kernel's counters that rose.
struct Losses {
    static constexpr std::string_view id = "losses", heading = "Losses without a drop event";
    static bool is_in(const Results& results) { return std::ranges::any_of(results.of<rows::Counter>(), has_risen); }
    static bool has_risen(const rows::Counter& counter) { return counter.count.value_or(0) > 0; }
    static Sheet sheet(const Results& results);
};
/// Stages and values of the largest groups.
struct Groups {
    static constexpr std::string_view id = "groups", heading = "Groups";
    static bool is_in(const Results& results) {
        const auto is_of_group = [](const auto& row) { return !row.group.empty(); };
        return std::ranges::any_of(results.of<rows::Stage>(), is_of_group) ||
               std::ranges::any_of(results.of<rows::Value>(), is_of_group);
    }
};
/// What the probes cost.
struct Cost : Of<rows::Cost> {
    static constexpr std::string_view id = "cost", heading = "The probes' cost";
    static Sheet sheet(const Results& results);
};
struct Account : Of<rows::Accounting> {
    static constexpr std::string_view id = "account", heading = "The account";
};

}  // namespace section

using Sections =
    std::tuple<section::Calls, section::Stages, section::Averages, section::Tail, section::Causes, section::OverTime,
               section::Distribution, section::Slowest, section::Who, section::Functions, section::Ledger,
               section::Drops, section::Counts, section::Losses, section::Groups, section::Cost, section::Account>;

template <class S>
concept HasSheet = requires(const rows::Results& results) {
    S::sheet(results);
};

/// Calls with each section that has something to show.
void each_section(const rows::Results& results, auto&& visit) {
    std::apply([&](auto... sections) { ((sections.is_in(results) ? visit(sections) : void()), ...); }, Sections());
}

}  // namespace stapgen::show
