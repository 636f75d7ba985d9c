// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "doctor/doctor.h"
#include "host/host.h"
#include "host/system.h"
#include "launch/module_file.h"
#include "launch/run.h"
#include "module/kept_modules.h"
#include "module/sign.h"
#include "recipe/catalog.h"
#include "recipe/recipe.h"

namespace stapgen::module {

struct MakeOptions {
    std::string release, symbols, stap = "stap";
    std::string debuginfo = "auto";  ///< auto, never or require
    bool all_modules = false;
    std::vector<std::string> modules, stap_options, without_workarounds;
    bool guru = false;  ///< the user agrees to a script that has C of its own
    bool dry_run = false;
    bool cost = false;             ///< measure what the probes cost
    std::optional<double> budget;  ///< what they may cost: overhead::parse_budget()
    recipe::Arguments arguments;
    std::optional<std::chrono::milliseconds> interval;
    bool aggregate = false;
    std::optional<std::uint64_t> keep;  ///< bytes of memory for records of the seconds that have passed
    std::vector<std::string> by;        ///< of Recipe::by
    std::optional<Signer> sign;
    bool filters = true;  ///< the script heeds those that it can: false in a standalone one that none is asked of
};

/// Where a live view is shown and neither the user nor the recipe says how often to report: often enough for a person
/// to see what the script counts.
inline constexpr std::chrono::seconds live_interval{1};

/// The interval that was asked for, else the recipe's own; 0: none.
std::chrono::milliseconds interval_of(const recipe::Recipe& recipe, const MakeOptions& options);

/// Fails where stap would be in guru mode (-g) without the recipe's declaration and the user's consent, or where the
/// recipe needs it and the user has not agreed.
base::Result<void> check_guru(const recipe::Recipe& recipe, const MakeOptions& options);

/// The recipe's script, rendered from its script.stp. `numbered`: for render::source_lines().
base::Result<std::string> script_of(const recipe::Recipe& recipe, const MakeOptions& options, bool numbered = false);

struct UsedWorkarounds {
    std::vector<std::string> ids;
    std::vector<std::string> why;  ///< they are needed, a line each, those of the runtime's faults in one
};

/// Everything that is known before stap is started.
struct Preparation {
    std::optional<base::PrivateDirectory> folder;  ///< that the script is in; none: a dry run
    launch::CompileJob job;
    std::filesystem::path source;    ///< script.stp
    std::vector<std::size_t> lines;  ///< of it, for each line of the script
    UsedWorkarounds workarounds;
    std::vector<std::string> notes;    ///< one line each, for the user
    bool aggregates = false;           ///< the script does
    std::string recipe_hash;           ///< recipe::hash_of()
    doctor::Question question;         ///< what the doctor was asked, for an error that comes later
    std::optional<KeptModules> kept;   ///< none: --no-workaround kept-module
    std::vector<std::string> signing;  ///< signing_argv(); empty: it is not signed
    Name signed_name = Name::of_this_process;
};

/// The purpose of the module.
enum class Purpose { run_here, run_elsewhere };

/// The doctor's question about a recipe with these options; its workarounds and what was shown of its kernels are left
/// out.
base::Result<doctor::Subject> subject_of(const recipe::Program& program, const recipe::Recipe& recipe,
                                         const MakeOptions& options);

/// The doctor's question before these are made: the machine is looked at for it.
base::Result<doctor::Question> question_of(const recipe::Program& program, const host::System& machine,
                                           const MakeOptions& options, Purpose purpose,
                                           std::vector<doctor::Subject> subjects);

/// The doctor's question about a module before it is loaded here. `file`: as the user named it. Fails where SystemTap
/// did not make it.
base::Result<doctor::Question> question_of(const host::System& machine, const launch::LoadableModule& module,
                                           const std::string& file);

/// Looks at the machine, chooses the workarounds and writes the script. Fails where the machine cannot do what is
/// asked. A dry run does not, and writes nothing.
base::Result<Preparation> prepare(const recipe::Program& program, const host::System& machine,
                                  const recipe::Recipe& recipe, const MakeOptions& options, Purpose purpose);

/// Adds to a failure's message the doctor's rows that may explain it and are not ok by then. Both arguments must
/// outlive it.
launch::Explanation explanation(const host::System& machine, const doctor::Question& question);

/// Says what is worked around, runs stap and shows its progress. The module's file; of one that is signed it is in the
/// preparation's folder.
base::Result<std::filesystem::path> compile(const host::System& machine, Preparation& preparation, bool quiet,
                                            bool verbose);

/// Compiles beforehand what the first runs of these recipes would: stap's answers about the kernel's headers, and the
/// modules of a run without options and of one that is watched on a terminal, stay in stap's cache. A line for each
/// goes to stdout, with its time, and one for the cache. A recipe that cannot be compiled without more options is left
/// out, with a line; one that fails does not keep the others from it, and the first failure is the error.
base::Result<void> warm(const recipe::Program& program, const host::System& machine,
                        const std::vector<recipe::Recipe>& recipes, const MakeOptions& options);

}  // namespace stapgen::module
