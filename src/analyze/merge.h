// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stapgen::analyze {

struct Summary;

/// The lists of a Summary whose rows have names.
enum class NamedList {
    stages,
    values,
    directions,
    averages,
    notes,
    counters,
    incomplete,
    lost,
    other,
    skipped,
    probes
};

/// What a sum of recordings knows beside what it shows.
struct MergeState {
    /// Where a name stood in its list, in that recording in which it stood first.
    std::map<std::pair<NamedList, std::string>, std::size_t> places;

    /// The rows of one recording among those that are not added up: intervals with their drops and tallies, the
    /// intervals of averages, and calls.
    struct Portion {
        std::optional<std::int64_t> start_epoch_ns, end_epoch_ns;
        std::int64_t lines = 0, reported = 0;
        std::uint64_t digest = 0;  ///< of all its rows
        std::size_t intervals = 0, average_intervals = 0, calls = 0;
        std::int64_t packets = 0;  ///< the largest number of a tree of calls

        auto operator<=>(const Portion&) const = default;
    };
    std::vector<Portion> portions;  ///< in their order, which is that of time
};

/// Error (bad_input): what these say may not be added: they are of two recipes, or of two definitions
/// (recording::definition_of()). What has no definition is of one with all others of its recipe that have none.
base::Result<void> check_one_definition(const Summary& summary, const Summary& other);

/// Adds another recording, or sum of recordings, of the same definition. Bins, counts, sums, splits and accounts add
/// up, as whole numbers: any order and any tree of additions gives the same. Rows by interval stand by recording, in
/// the order of their starts. Drops of several kernels meet by module, function and reason, for offsets differ there.
///
/// Counters that were read (Summary::tracks) are the exception: they rise from sample to sample, and the samples of
/// `added` are the later ones.
///
/// Error (bad_input): that of check_one_definition(); nothing is added.
base::Result<void> merge(Summary& into, Summary added);

/// All of them, which are of one definition and at least one. Takes less time than adding one after the other.
Summary merge_all(std::vector<Summary> recordings);

}  // namespace stapgen::analyze
