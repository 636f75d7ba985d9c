// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>

#include <iostream>

#include "base/process.h"
#include "cli/command_line.h"

int main(int argc, char** argv) {
    // Nobody else may write what root makes, whatever the caller is used to.
    ::umask(::umask(077) | 022);
    stapgen::base::take_signals();
    stapgen::base::raise_descriptor_limit();
    std::ios::sync_with_stdio(false);
    return stapgen::cli::run_command_line({argv + 1, argv + argc});
}
