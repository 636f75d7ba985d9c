// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>

#include <csignal>
#include <iostream>

#include "cli/command_line.h"

int main(int argc, char** argv) {
    // What root makes nobody else may write, whatever the caller is used to.
    ::umask(::umask(077) | 022);
    // A reader that goes away (`| head`) shows as a failed write and ends the measurement in good order.
    std::signal(SIGPIPE, SIG_IGN);
    std::ios::sync_with_stdio(false);
    return stapgen::cli::run_command_line({argv + 1, argv + argc});
}
