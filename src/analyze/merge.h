// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <vector>

#include "base/result.h"
#include "kinds/measured.h"

namespace stapgen::analyze {

using kinds::Measured;

/// Error (bad_input): what these say may not be added: they are of two recipes, or of two definitions
/// (recording::definition_of()). What has no definition is of one with all others of its recipe that have none.
base::Result<void> check_one_definition(const Measured& measured, const Measured& other);

/// A sum of recordings is a fold: they are sorted by start, end and host, and each is added to those before it. What is
/// of one key meets: distributions, counts and accounts are whole numbers, so that a sum is exact and no order of
/// additions rounds otherwise. What is of a time stands side by side: rows of the second recording's intervals follow
/// those of the first, with numbers that go on, and so do calls. Means are kept as sums for that reason.
///
/// Drops are the hard part, for a place is an address only in one kernel: an address of two boots, or an offset in two
/// builds, says nothing. Of one kernel, places with a name meet by name and offset; of several by name alone, and
/// reasons by name, since kernels renumber them. What has no name stays an address, and meets nothing of another boot.

/// Adds a later recording, or sum of recordings, of the same definition. Counts, sums, distributions and accounts are
/// whole numbers and add up. Rows of intervals, calls and new names follow those that are there.
/// Drops of several kernels meet by module, function and reason, for offsets differ there.
///
/// Error (bad_input): that of check_one_definition(); nothing is added.
base::Result<void> merge(Measured& into, Measured added);

/// All of them, which are of one definition and at least one, in the order of their starts, ends and hosts: whatever
/// order they are given in, the sum is the same. Counters that were read (rows::Readings) are the exception: they
/// rise from sample to sample, and stay in the order in which they are given.
Measured merge_all(std::vector<Measured> recordings);

}  // namespace stapgen::analyze
