#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
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

/// What cannot be done where a check says missing.
enum class Blocks {
    nothing,
    loading,    ///< of any module
    compiling,  ///< of any recipe
    functions,  ///< compiling a recipe that probes functions, and not tracepoints alone
};

/// What to do: words, then a command, then what else would do. Each may be empty.
struct Remedy {
    std::string words{};
    host::Commands commands{};
    std::string otherwise{};
};

/// One thing that decides whether a recipe runs. docs/doctor.md says what each id means.
struct Check {
    std::string id;  ///< stable; of a workaround it is the workaround's name
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
    std::vector<recipe::KernelRange> kernels{};  ///< what was shown of it; empty: nothing is known
};

/// For which kernel, with which of stapgen's options, and what for.
struct Question {
    host::Target target;
    std::vector<Subject> subjects{};
    bool to_load = true;                          ///< a module is to be loaded on this machine
    bool to_compile = true;                       ///< a module is to be made on this machine
    std::vector<host::Workaround> workarounds{};  ///< host::needed_workarounds()
    host::WorkaroundChoice choice{};
    bool symbols_given = false;       ///< --symbols
    bool debuginfo_required = false;  ///< --debuginfo require
    bool signed_module = false;       ///< what is to be loaded has a signature; whether it is trusted the kernel knows
    std::filesystem::path cache{};    ///< base::cache_directory()
};

}  // namespace stapgen::doctor
