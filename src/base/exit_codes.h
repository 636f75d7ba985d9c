// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace stapgen::base {

/// Exit codes of the program. The only table of them: help, manual and whoever starts stapgen as a child read it.
struct ExitCode {
    int number = 0;
    std::optional<ErrorKind> kind{};  ///< nothing: it was done
    std::string_view commands;        ///< which commands have it
    std::string_view meaning;
};

inline constexpr std::array exit_codes{
    ExitCode{0, std::nullopt, "all",
             "Done. Ending a measurement with Ctrl-C counts as done. Of compare: both sides were compared, and nothing "
             "regressed."},
    ExitCode{1, ErrorKind::failed, "all", "It failed while running."},
    ExitCode{2, ErrorKind::bad_input, "all", "Wrong usage or bad input."},
    ExitCode{3, ErrorKind::regression, "compare, fleet compare",
             "A regression; in fleet compare: a host, a kernel or a label that differs."},
    ExitCode{4, ErrorKind::cannot_here, "all", "This machine cannot do it; the message names what is missing."},
    ExitCode{5, ErrorKind::partial, "fleet run, export",
             "Some hosts did not complete, or some recordings could not be exported. The output names them and the "
             "reasons."},
    ExitCode{6, ErrorKind::over_budget, "all that measure",
             "The probes took more CPU time than --budget or SystemTap's own guard allows. The measurement up to that "
             "point was reported."},
    ExitCode{7, ErrorKind::no_result, "compare, fleet compare",
             "No result: too little was measured to say. The message names what is missing."},
};

constexpr int exit_code_of(ErrorKind kind) {
    for (const auto& row : exit_codes) {
        if (row.kind == kind) return row.number;
    }
    return 1;
}

/// The kind of failure of a child that was stapgen. Nothing: it was done, or the number is none of stapgen's.
constexpr std::optional<ErrorKind> kind_of_exit_code(int number) {
    for (const auto& row : exit_codes) {
        if (row.number == number) return row.kind;
    }
    return std::nullopt;
}

}  // namespace stapgen::base
