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

/// The threads of this machine whose name is `comm` (15 bytes at most, as the kernel keeps it), or that `tid`
/// names.
std::vector<Thread> threads_named(std::string_view comm);
base::Result<Thread> thread_of(std::int64_t tid);

}  // namespace stapgen::cli
