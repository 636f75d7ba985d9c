// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rows/of_interval.h"
#include "table/keys.h"

namespace stapgen::rows {

/// Samples of a program at one place of its code, or in one system call there: as they are measured, then with names.
struct CodeSample {
    std::string comm{};       ///< the thread's name
    std::int64_t pid = 0;     ///< 0: it has names
    std::int64_t call = 0;    ///< number of the system call; -1: its own code; -2: a page fault, or an interrupt
    std::string addresses{};  ///< as the record has them; empty: it has names
    table::Texts path{};      ///< the innermost function first; a system call is one: "read()"
    table::Texts files{};     ///< of these
    std::int64_t n = 0;

    static constexpr About about{.name = "code_samples", .shape = Shape::none, .most = 16384};
    static constexpr void columns(auto&& column) {
        column(Key(), "comm", &CodeSample::comm);
        column(Key(), "pid", &CodeSample::pid);
        column(Key(), "call", &CodeSample::call);
        column(Key(), "addresses", &CodeSample::addresses);
        column(Key(), "path", &CodeSample::path);
        column(Key(), "files", &CodeSample::files);
        column(Sum(), "n", &CodeSample::n);
    }
};

/// A function of a program, and its part of the CPU time of slow requests.
struct Function {
    std::string function{}, file{};        ///< of a system call "read()" and "kernel"
    std::int64_t n = 0;                    ///< samples in it
    double share = 0;                      ///< of all samples
    double error = 0;                      ///< the share is right within that in 95 of 100 runs
    std::optional<double> called_share{};  ///< of all samples those in it, or in what it called; nothing: not known

    static constexpr About about{.name = "functions", .row_name = "function", .is_rare = true, .most = 4096};
    static constexpr void columns(auto&& column) {
        column(Key(), "function", &Function::function, Shown{.place = 5, .heading = "FUNCTION", .is_head = true});
        column(Key(), "file", &Function::file, Shown{.place = 6, .heading = "IN"});
        column(Separate(), "samples", &Function::n, Shown{.place = 1, .heading = "SAMPLES"});
        column(Separate(), Share("share"), &Function::share, Shown{.place = 2, .heading = "SHARE"});
        column(Separate(), Share("error"), &Function::error, Shown{.place = 3, .heading = "+-"});
        column(Separate(), Share("with_called_share"), &Function::called_share,
               Shown{.place = 4, .heading = "WITH CALLED", .if_any = true, .is_rare = true});
    }
};

}  // namespace stapgen::rows
