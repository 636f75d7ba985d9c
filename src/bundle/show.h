// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "bundle/evidence.h"
#include "bundle/findings.h"

namespace stapgen::bundle {

/// An archive's report.
struct Report {
    std::string archive;
    const Evidence* evidence = nullptr;
    const Evidence* before = nullptr;  ///< of an earlier archive of the same host; may be null
    std::vector<Finding> findings;
    std::vector<Loss> losses{};
    std::string fallen{};                       ///< why an earlier archive was not compared: fallen_counter()
    std::optional<std::int64_t> more_losses{};  ///< that are left out
};

/// For a person, in lines of that width.
void write_text(const Report& report, std::size_t width, std::ostream& out);
/// A row for each evidence of a finding, and of what else counts losses.
void write_csv(const Report& report, std::ostream& out);
/// One document: schema stapgen.findings/1, docs/reference/formats.md.
void write_json(Report report, std::ostream& out);

}  // namespace stapgen::bundle
