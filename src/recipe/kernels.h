// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "recipe/catalog.h"

namespace stapgen::recipe {

/// The proof of a recipe on some kernels: a row of kernels.toml.
struct KernelRange {
    std::string range;
    std::string state;                         ///< "run" or "resolved"
    std::string lost;                          ///< what is missing there, or empty
    std::vector<std::string> matches{};        ///< the releases that are meant: "6.12", "4.19-5.7", "el8"; or a kind
    std::vector<std::string> architectures{};  ///< as `uname -m`; none: all

    /// For the user: whether the recipe was run there, and what is lost.
    [[nodiscard]] std::string state_text() const;
};

/// The name for kernels in which interrupts' handlers are threads: PREEMPT_RT, the argument threadirqs.
inline constexpr std::string_view threaded_interrupts = "threaded-interrupts";

/// The first that is meant by this release ("6.12.117+deb13-amd64") of this architecture; null if none is. RHEL's
/// kernels have many versions' functions: one of theirs is only meant by its "elN".
const KernelRange* range_of(const std::vector<KernelRange>& ranges, std::string_view release,
                            std::string_view architecture);

/// Whether the release ("4.9.0-6-amd64") says that it is older than that ("4.16"); no if either says no number.
bool is_before(std::string_view release, std::string_view version);

base::Result<std::vector<KernelRange>> kernels_of(const std::string& recipe, const std::filesystem::path& file);
/// None of a recipe that reads counters, or that is not one of ours: of those nothing was shown.
base::Result<std::vector<KernelRange>> kernels_of(const Recipe& recipe, const ProgramFiles& files);

}  // namespace stapgen::recipe
