// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/system.h"
#include "kinds/measured.h"
#include "launch/messages.h"
#include "launch/run.h"
#include "recipe/catalog.h"

namespace stapgen::session {

/// SystemTap's losses, as a report has them.
recording::Transport transport_of(const launch::Losses& losses);
/// What SystemTap said as it ended, for the user.
std::vector<std::string> messages_of(const launch::LoadEnd& end);

/// The buffer per CPU (-s) that would have held what the measured says was lost on its way; 0 if that is not known, or
/// more than this machine has. `asked_mb`: the -s of this run. `bytes`: of all lines that came.
std::int64_t enough_buffer_mb(const host::System& machine, const launch::Losses& losses,
                              std::optional<std::int64_t> asked_mb, const kinds::Measured& measured,
                              std::int64_t bytes);

/// Puts the meanings of counted things, by the recipe that it is of. What is lost comes first in each interval; of the
/// values of counters there is nothing else left.
void put_meanings(kinds::Measured& measured, const recipe::Recipe& recipe);
/// The same by the recipe of that name, if there is one here.
void put_meanings(kinds::Measured& measured, const recipe::Catalog& catalog);

// Groups by where a record is from, which no record says: --by host, --by recording, --by label:dc.

inline constexpr std::array<std::string_view, 3> origin_words{"host", "recording", "label:"};

/// Whether it is one of them; behind "label:" is the name of a label.
bool is_origin_word(std::string_view word);

/// The group that the words make of a recording, whose file is `name`; "-" is not known.
table::Group origin_group(const std::vector<std::string>& words, const recording::Origin& origin,
                          const std::string& name);

/// Puts the words' values before the groups of a recording's measures and counts. `none_else`: nothing else is grouped
/// by, so that each recording as a whole is a group. Error (bad_input): these are drops, which have no groups.
base::Result<void> group_by_origin(const table::Group& origin, bool none_else, kinds::Measured& measured);

}  // namespace stapgen::session
