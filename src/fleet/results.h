// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/presentation.h"
#include "study/outliers.h"

/// Results of a folder of recordings, one of each host, made by `fleet run` or not.
namespace stapgen::fleet {

/// What became of the hosts of `fleet run`, beside their recordings.
inline constexpr const char* index_file = "fleet.json";

/// One host's part in it.
struct HostResult {
    std::string host;
    std::string state = "done", why{};  ///< as fleet.json has them
    std::filesystem::path recording{};  ///< empty: none
    std::string recipe{};               ///< what it was to measure; empty: nobody says
    bool is_named = false;              ///< by fleet.json, and not by its file
};

/// The hosts of fleet.json, or one for each file where there is none. Errors (bad_input): no folder, nothing in it, or
/// a fleet.json that cannot be read.
base::Result<std::vector<HostResult>> read_results(const std::filesystem::path& folder);

/// Calls for each recording, one after the other: only one is in memory. What cannot be read becomes the host's `why`.
/// A recording of another recipe than it was to measure is one of these. Error (bad_input): where nobody says what that
/// is, a recording has several recipes, or another one than the first.
base::Result<void> for_each_measured(
    std::vector<HostResult>& hosts, const session::Presentation& presentation,
    const std::function<base::Result<void>(const HostResult& host, kinds::Measured measured)>& call);

/// A factor of Member::levels.
inline constexpr const char* kernel_factor = "kernel";

/// The cohorts are the hosts with its kernel, its labels and its definition, then those with its kernel and definition,
/// then all that run the same recipe with the same filters.
study::Member member_of(const std::string& host, const kinds::Measured& measured);

/// "1 of 4 hosts did not measure to the end: web3 (unreachable)"; empty if all did.
std::string missing_text(const std::vector<HostResult>& hosts);

}  // namespace stapgen::fleet
