#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "cli/doing.h"
#include "cli/kept_modules.h"
#include "cli/run_options.h"
#include "doctor/check.h"
#include "host/host.h"
#include "host/system.h"
#include "launch/run.h"

namespace stapgen::cli {

/// The recipe's script, rendered from its script.stp.
base::Result<std::string> script_of(const recipe::Recipe& recipe, const recipe::Arguments& arguments,
                                    std::chrono::milliseconds interval, bool aggregate);

/// Everything that is known before stap is started.
struct Preparation {
    std::optional<base::PrivateDirectory> folder;  ///< that the script is in; none: a dry run
    launch::CompileJob job;
    std::vector<std::string> notes;   ///< one line for each cure, for the user
    bool aggregates = false;          ///< the script does
    doctor::Question question;        ///< what the doctor was asked, for an error that comes later
    std::optional<KeptModules> kept;  ///< none: --no-cure kept-module
};

/// What the module is for.
enum class Purpose { run_here, run_elsewhere };

/// What the doctor is asked of a recipe; its cures and what was shown of its kernels are left out.
base::Result<doctor::Subject> subject_of(const Program& program, const recipe::Recipe& recipe,
                                         const std::string& debuginfo);

/// What the doctor is asked before these are made: the machine is looked at for it.
base::Result<doctor::Question> question_of(const Program& program, const host::System& machine,
                                           const MakeOptions& options, Purpose purpose,
                                           std::vector<doctor::Subject> subjects);

/// Looks at the machine, chooses the cures and writes the script. Fails where the machine cannot do what is asked. A
/// dry run does not, and writes nothing.
base::Result<Preparation> prepare(const Program& program, const host::System& machine, const recipe::Recipe& recipe,
                                  const MakeOptions& options, Purpose purpose);

/// Says what is cured, runs stap and shows its progress.
base::Result<launch::Compiled> compile(const host::System& machine, Preparation& preparation, bool quiet, bool verbose);

}  // namespace stapgen::cli
