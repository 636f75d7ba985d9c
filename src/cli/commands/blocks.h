// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>

#include "session/pieces.h"

namespace stapgen::cli {

/// How a text is read in which addresses are named. The answer is the same to the byte, whatever is said here.
struct Blocks {
    std::size_t cores = session::Reading::usable_cores();
    std::size_t size = std::size_t{256} << 10U;  ///< bytes that one thread reads at once
};

}  // namespace stapgen::cli
