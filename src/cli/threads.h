#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::cli {

struct Thread {
    std::int64_t pid = 0, tid = 0;
    std::string comm;
};

/// The threads of this machine that are there now, as /proc has them.
std::vector<Thread> running_threads();

/// Whether a thread of this machine is named `comm`; 15 bytes count, as the kernel keeps no more.
bool is_thread_named(std::string_view comm);

/// The process of a thread of this machine; bad_input if there is no such thread.
base::Result<std::int64_t> process_of(std::int64_t tid);

}  // namespace stapgen::cli
