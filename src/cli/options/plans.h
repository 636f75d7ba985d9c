// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/options.h"
#include "host/system.h"

/// Values as typed -> plans, checked. Errors are bad_input.
namespace stapgen::cli {

/// The value of --color.
base::Colours colours_of(std::string_view color);
base::Result<session::Presentation> presentation_of(const PresentOptions& options);

/// Fails where `events` are asked for and the format is one document.
base::Result<void> check_events(bool events, const session::Presentation& presentation);

/// Of each word: a folder's files; anything else, be it there or not, is itself. Without the fleet.json of `fleet run`,
/// unless there is nothing else. Fails where a folder has none.
base::Result<std::vector<std::filesystem::path>> files_at(const std::vector<std::string>& words);

/// Its notes say what of the filters is not there now, and why there is no live view. Threads and processes need not
/// be there for a `dry_run`.
base::Result<session::MeasurePlan> plan_of(const host::System& machine, const MeasureOptions& options, bool dry_run);

/// The groups that --by asks a script for, where nothing is measured.
base::Result<std::vector<std::string>> parse_by(const recipe::Recipe& recipe, std::string_view typed);

/// Whole milliseconds from 10 ms to a day.
base::Result<std::chrono::milliseconds> parse_interval(std::string_view typed);

/// The value of --duration, above 0.
base::Result<std::chrono::nanoseconds> parse_measured_time(std::string_view typed);

/// "-1c000000" or "0x1c000000".
base::Result<std::int64_t> parse_kaslr_offset(std::string_view typed);

/// Bytes, from 1 MiB to 1 GiB.
base::Result<std::uint64_t> parse_keep_memory(std::string_view typed);

/// Nothing where nothing is to be kept.
base::Result<std::optional<session::KeepPlan>> keep_plan_of(const KeepOptions& options);

/// Whole MiB, as staprun takes them (it calls them MB).
base::Result<std::int64_t> parse_buffer(std::string_view typed);

}  // namespace stapgen::cli
