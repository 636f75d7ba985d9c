// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "host/system.h"
#include "launch/run.h"

namespace stapgen::module {

/// Modules that stap made, kept in the cache, so that the same run begins without stap. stap's own cache finds a module
/// only after its pass 2, and SystemTap 5.6 sorts the probes of one script now so, now so, and then compiles it again.
class KeptModules {
  public:
    /// `script` is the text of the job's script. What a module depends on makes its name: stap's command, the texts of
    /// script and tapsets, and names, sizes and times of the files that stap itself goes by (stap, the compiler, the
    /// runtime, the kernel's tree, tables of symbols, debuginfo). Modules of jobs with options of the user's for stap,
    /// or with symbols of kernel modules, depend on more and are not kept.
    KeptModules(const host::System& machine, const launch::CompileJob& job, std::string_view script);

    /// The module of an earlier run, if there is one that only we can have put there.
    [[nodiscard]] std::optional<std::filesystem::path> find() const;
    /// To be called of one that was found and is loaded: it is the newest then.
    void use() const;
    /// Keeps a copy of a module, and the newest 64 in all. Where there is no room for it, it is not kept.
    void keep(const std::filesystem::path& module) const;

  private:
    std::filesystem::path all_, folder_;  ///< empty: not to be kept
};

}  // namespace stapgen::module
