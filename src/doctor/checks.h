// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "doctor/doctor.h"
#include "host/system.h"

/// The single checks, for doctor.cpp.
namespace stapgen::doctor {

inline Check ok(std::string found) {
    return {.state = State::ok, .found = std::move(found)};
}
inline Check worked_around(std::string found) {
    return {.state = State::worked_around, .found = std::move(found)};
}
inline Check note(std::string found, Remedy remedy = {}) {
    return {.state = State::note, .found = std::move(found), .remedy = std::move(remedy)};
}
inline Check missing(std::string found, Remedy remedy) {
    return {.state = State::missing, .found = std::move(found), .remedy = std::move(remedy)};
}

/// The file's content without blanks at its ends; empty if it cannot be read. For files of a few words.
std::string short_text(const host::System& system, const std::filesystem::path& file);

/// Leaves id, blocks and workaround to examine(); where it found nothing it has nothing to say.
using CheckFunction = Check(const host::System& system, const Question& question);

// load_checks.cpp
CheckFunction module, privileges, modules, module_signing, staprun, running_kernel, debugfs, ftrace, tracefs, leftovers,
    interrupt_threads;
// platform_check.cpp
CheckFunction platform, container;
// compile_checks.cpp
CheckFunction systemtap, headers, compiler, kernel_options, symbol_table, trace_headers, debuginfo;
std::vector<Check> workarounds(const Question& question);
// cost_checks.cpp
CheckFunction kernel, memory, disk, first_run;

}  // namespace stapgen::doctor
