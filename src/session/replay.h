// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"
#include "report/presentation.h"
#include "session/session.h"
#include "symbols/kernel_names.h"

namespace stapgen::session {

/// One run: a file, or the parts of a rotated recording.
struct LoadedRun {
    std::string name;                       ///< of its first file, to be shown
    std::vector<analyze::Summary> reports;  ///< one for each recipe, in the order of their first lines; never empty
};

/// What else is wanted of files.
struct ReplayOptions {
    Selection selection{};                    ///< of records
    bool events = false;                      ///< each record is written to stdout; runs are read one by one
    report::RecordWriter* records = nullptr;  ///< gets each record of one run, instead of stdout
};

/// Reads files ("-" is stdin) of whatever kinds: recordings and text that other tools print. Parts of one run are put
/// together. Several runs are read side by side, one thread each. Drops that have no names get them from `names`.
/// Errors (bad_input): a file cannot be read; there is nothing known in any of them; records cannot be selected like
/// that; those of Namer::put_into(). What a user should know besides goes to stderr.
base::Result<std::vector<LoadedRun>> load_runs(const std::vector<std::filesystem::path>& files,
                                               const report::Presentation& presentation,
                                               const symbols::NameSources& names, const ReplayOptions& options = {});

/// Adds to that of its recipe and definition. Where there is none it stays apart, behind the others.
void add_to(std::vector<analyze::Summary>& all, analyze::Summary summary);
/// Once all are added: what is apart and why, and what rose between samples of counters.
void finish_sums(std::vector<analyze::Summary>& all, const report::Presentation& presentation);

/// The same, and what is of one recipe is one summary, added up over all runs.
base::Result<std::vector<analyze::Summary>> load(const std::vector<std::filesystem::path>& files,
                                                 const report::Presentation& presentation,
                                                 const symbols::NameSources& names, const ReplayOptions& options = {});

}  // namespace stapgen::session
