// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <ostream>

#include "base/result.h"
#include "symbols/kernel_names.h"

namespace stapgen::cli {

/// Copies a file ("-" is stdin), names instead of kernel addresses. What one read gives is written at once; only
/// while the KASLR offset has to be inferred the text is held, at most 64 MiB of it. Error (bad_input): the file cannot
/// be read; the KASLR offset is not known: then the text has been copied as it is.
base::Result<void> annotate(symbols::KernelNames& names, const std::filesystem::path& file, std::ostream& out);

}  // namespace stapgen::cli
