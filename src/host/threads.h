#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::host {

struct Thread {
    std::int64_t pid = 0, tid = 0;
    std::string comm;
};

/// The threads of this machine that are there now, as /proc has them.
std::vector<Thread> running_threads();

/// Whether a thread of this machine is named `comm`; 15 bytes count, as the kernel keeps no more.
bool is_thread_named(std::string_view comm);

struct Process {
    std::int64_t pid = 0, threads = 0;
    std::string comm;  ///< of its first thread
};

/// The process of a thread of this machine, or with `whole` that process itself. Errors (bad_input): there is none of
/// that number; with `whole` it is the number of another thread than the first.
base::Result<Process> process_of(std::int64_t id, bool whole);

}  // namespace stapgen::host
