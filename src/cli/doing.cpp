#include "cli/doing.h"

#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

namespace stapgen::cli {

base::Result<void> finish_output() {
    if (std::cout.flush()) return {};
    struct stat status {};
    if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return {};
    return base::failed("the output could not be written to its end", "see whether the disk it goes to is full");
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
