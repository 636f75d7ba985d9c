// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bundle/evidence.h"
#include "cli/options/options.h"
#include "cli/options/spec.h"
#include "session/presentation.h"

namespace stapgen::cli {

/// The words that are support archives, or folders with folders in them; none if the words are recordings and texts.
/// Error (bad_input): some are and some are not, or they are more than two.
base::Result<std::vector<std::filesystem::path>> archives_among(const std::vector<std::string>& typed);

/// Reports texts, or folders of texts, with lines of the kernel's log as an archive; two as an older and a newer one.
/// False: the words are no such. Errors: as report_archives().
base::Result<bool> report_logs(const Call& call, const std::vector<std::string>& typed, const ReportOptions& options,
                               const session::Presentation& presentation);

/// For what stdin has, while nothing else in it is known.
bundle::LogText log_of_stdin(const Call& call);
/// Writes what it says, to stdout. Errors: the table of findings cannot be read; a format that findings do not have.
base::Result<void> report_log(const Call& call, const bundle::LogText& log, const ReportOptions& options);

/// Writes what one archive says, or what rose between an older and a newer one, to stdout; behind it the reports of the
/// newest one's drops and recordings. Errors: those of reading them; a format that findings do not have.
base::Result<void> report_archives(const Call& call, const std::vector<std::filesystem::path>& archives,
                                   const ReportOptions& options, const session::Presentation& presentation);

}  // namespace stapgen::cli
