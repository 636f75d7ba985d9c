// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "kinds/measured.h"
#include "session/presentation.h"
#include "session/session.h"
#include "symbols/kernel_names.h"
#include "when/condition.h"
#include "when/watcher.h"

namespace stapgen::session {

/// One run: a file, or the parts of a rotated recording.
struct LoadedRun {
    std::string name;                      ///< of its first file, to be shown
    std::vector<kinds::Measured> reports;  ///< one for each recipe, in the order of their first lines; never empty
};

/// Options of reading files.
struct ReplayOptions {
    Selection selection{};                        ///< of records
    std::vector<when::Condition> when{};          ///< notes say when these hold
    std::function<void(const when::Met&)> met{};  ///< gets each moment of it; may be empty
    bool events = false;                          ///< each record is written to stdout; runs are read one by one
    show::RecordWriter* records = nullptr;        ///< gets each record of one run, instead of stdout
    /// The budget of the input that the files are parts of; they are read one by one. Null: each is an input of its
    /// own.
    std::shared_ptr<base::Budget> budget{};
    /// Gets the lines of one text as long as nothing in it is known; may be empty.
    std::function<void(std::string_view lines)> unknown{};
};

/// The hint of the error that nothing known is in any of the files.
inline constexpr std::string_view unknown_format_hint = "'stapgen help report' lists the formats";

/// Reads files ("-" is stdin) of whatever kinds: recordings and text that other tools print. Parts of one run are put
/// together. Several runs are read side by side, one thread each. Drops that have no names get them from `names`.
/// Errors (bad_input): a file cannot be read; there is nothing known in any of them; records cannot be selected like
/// that; those of Namer::put_into(). What a user should know besides goes to stderr.
base::Result<std::vector<LoadedRun>> load_runs(const std::vector<std::filesystem::path>& files,
                                               const Presentation& presentation, const symbols::NameSources& names,
                                               const ReplayOptions& options = {});

/// The same of one recording of a host that is not trusted: what reading it costs has a limit (base::Budget).
base::Result<std::vector<LoadedRun>> load_foreign(const std::filesystem::path& file, const Presentation& presentation);

/// Reads a file for the moments alone at which conditions hold: ReplayOptions::met.
base::Result<void> watch(const std::filesystem::path& file, const Presentation& presentation,
                         const ReplayOptions& options);

/// Adds to that of its recipe and definition. Where there is none it stays apart, behind the others.
void add_to(std::vector<kinds::Measured>& all, kinds::Measured measured);
/// Once all are added: what is apart and why, and what rose between samples of counters.
void finish_sums(std::vector<kinds::Measured>& all, const Presentation& presentation);

/// The same, and what is of one recipe is one measured, added up over all runs.
base::Result<std::vector<kinds::Measured>> load(const std::vector<std::filesystem::path>& files,
                                                const Presentation& presentation, const symbols::NameSources& names,
                                                const ReplayOptions& options = {});

}  // namespace stapgen::session
