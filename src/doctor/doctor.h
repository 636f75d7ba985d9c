// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/terminal.h"
#include "host/host.h"
#include "host/system.h"
#include "host/workarounds.h"
#include "recipe/kernels.h"

namespace stapgen::doctor {

/// The later, the more urgent.
enum class State {
    ok,
    worked_around,  ///< it would be in the way, and stapgen sees to it for its own run
    note,           ///< it may cost something, or the user switched its workaround off: stapgen goes on
    missing,        ///< what `Check::blocks` says cannot be done
};

/// The step that cannot be done where a check says missing.
enum class Blocks {
    nothing,
    loading,    ///< of any module
    compiling,  ///< of any recipe
    functions,  ///< compiling a recipe that probes functions, and not tracepoints alone
};

/// The remedy: words, then a command, then what else would do. Each may be empty.
struct Remedy {
    std::string words{};
    host::Commands commands{};
    std::string otherwise{};
};

/// One thing that decides whether a recipe runs. docs/guide/troubleshooting.md says what each id means.
struct Check {
    std::string id{};  ///< stable; of a workaround it is the workaround's name
    State state = State::ok;
    Blocks blocks = Blocks::nothing;
    std::string found{};  ///< what was seen, and where
    Remedy remedy{};
    std::string workaround{};  ///< the name that --no-workaround knows; empty: none of stapgen's is meant for it
};

/// A recipe that is asked about.
struct Subject {
    std::string name;
    bool reads_counters = false;                 ///< it needs neither SystemTap nor root
    bool probes_functions = true;                ///< and not tracepoints alone
    bool has_substitutes = false;                ///< functions, where the kernel lacks a tracepoint
    std::vector<recipe::KernelRange> kernels{};  ///< what was shown of it; empty: nothing is known
};

/// A module that is there already, by what its file says.
struct Module {
    std::string file;                   ///< as the user named it
    std::string name;                   ///< as the kernel would call it
    std::string recipe;                 ///< empty: not one of stapgen's
    std::string release, architecture;  ///< of the kernel that it is for; the latter as `uname -m` there
};

/// For which kernel, with which of stapgen's options, and what for.
struct Question {
    host::Target target;
    std::vector<Subject> subjects{};
    bool to_load = true;                          ///< a module is to be loaded on this machine
    bool to_compile = true;                       ///< a module is to be made on this machine
    std::vector<host::Workaround> workarounds{};  ///< host::needed_workarounds()
    host::WorkaroundChoice choice{};
    std::string symbols{};            ///< --symbols; empty: not given
    bool debuginfo_required = false;  ///< --debuginfo require
    std::optional<Module> module{};   ///< what is to be loaded; none: it is yet to be made
    bool is_signed = false;           ///< what is to be loaded has a signature, or will have one
    std::string signer{};             ///< host::signer_of() it; empty: not known
    std::filesystem::path cache{};    ///< base::cache_directory()
};

/// All checks that belong to the question, the most fundamental first.
std::vector<Check> examine(const host::System& system, const Question& question);

/// The events that a recipe misses where interrupts' handlers are threads, as on the running kernel; empty if nothing
/// or if they are not.
std::string lost_to_interrupt_threads(const host::System& system, const std::vector<recipe::KernelRange>& kernels);

/// Whether stapgen's own virtual machines can be made here, which no run needs.
Check lab(const host::System& system);

/// Whether the subject's run is kept from being made or loaded by this check.
bool blocks(const Check& check, const Subject& subject);

/// The remedy in one line, for this family of distributions. Empty if there is none.
std::string remedy_text(const Remedy& remedy, host::Distribution distribution);

/// In the order to be shown: missing, note, worked around, ok; among equals as they were.
std::vector<Check> most_urgent_first(std::vector<Check> checks);

/// Those of these ids (with blanks between; "workarounds": all with a workaround but the symbol table's) that are
/// missing or a note.
std::vector<Check> not_ok(const std::vector<Check>& checks, std::string_view ids);

/// The verdict of all checks.
struct Verdict {
    std::vector<std::string> able, unable;  ///< names of subjects
    std::string what;                       ///< one sentence
    std::string first;                      ///< what to do first, or how to go on; may be empty
};
Verdict conclude(const std::vector<Check>& checks, const Question& question);

/// The doctor's table, at most 80 columns wide but for paths, which are never cut: what was found, and in lines of
/// their own what to do. Where it is no terminal, a command is one line.
std::string rows_text(const std::vector<Check>& checks, host::Distribution distribution,
                      const base::Screen& screen = {});

/// The first check that keeps the subject from its run as an error, with the rows of all others that do in its hint.
base::Result<void> able(const std::vector<Check>& checks, const Subject& subject, host::Distribution distribution);

/// The texts of those checks that are not ok by now, of these ids: those of a message of SystemTap's
/// (launch::Diagnosis::checks). Empty: none does.
std::string explanation_of(const host::System& machine, const Question& question, std::string_view ids);

/// "ok", "workaround", "note", "missing".
std::string_view state_name(State state);

}  // namespace stapgen::doctor
