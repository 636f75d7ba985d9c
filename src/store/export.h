// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "recipe/catalog.h"
#include "symbols/kernel_names.h"

/// Recordings to a store: a folder of Parquet files, which grows with each export.
namespace stapgen::store {

struct ExportPlan {
    std::vector<std::string> from;  ///< files, and folders of them
    std::filesystem::path into;
    bool events = false;  ///< each record, too
};

struct Exported {
    std::size_t runs = 0, replaced = 0;
    std::vector<std::string> problems;  ///< of what is not exported, or not whole
};

/// Each run is put into the store as a whole; one that is there already is replaced, for a recording may have grown. A
/// reader sees a run's old files, none of its row in `runs`, or the new ones with it. Errors: nothing can be read;
/// those of Database::open(); the store cannot be written.
base::Result<Exported> export_runs(const ExportPlan& plan, const recipe::Program& program,
                                   const symbols::NameSources& names);

}  // namespace stapgen::store
