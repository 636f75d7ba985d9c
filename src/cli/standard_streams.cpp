#include "cli/standard_streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>

namespace stapgen::cli {

namespace {

/// A reader that went away and a terminal that was closed wanted no more.
bool nobody_reads() {
    struct stat status {};
    if (::fstat(STDOUT_FILENO, &status) != 0) return false;
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return true;
    // isatty() says no of a terminal that was closed, and what the first write failed of is not known any more.
    return S_ISCHR(status.st_mode) && ::write(STDOUT_FILENO, "\n", 1) < 0 && errno == EIO;
}

}  // namespace

void hold_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
        // Opened the other way round, so that it can be neither read nor written, as before.
        (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

base::Result<void> finish_output() {
    if (std::cout.flush() || nobody_reads()) return {};
    return base::failed("the output could not be written to its end",
                        "see whether stdout is closed, or the disk it goes to full");
}

int exit_code_of(const base::Error& error) {
    switch (error.kind) {
        case base::ErrorKind::failed:
            return 1;
        case base::ErrorKind::bad_input:
            return 2;
        case base::ErrorKind::regression:
            return 3;
        case base::ErrorKind::cannot_here:
            return 4;
    }
    return 1;
}

}  // namespace stapgen::cli
