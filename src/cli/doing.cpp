#include "cli/doing.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

#include "base/text.h"

namespace stapgen::cli {

namespace {

void put_lines(std::string_view head, std::string_view text) {
    std::string out;
    for (const auto line : base::split(text, '\n')) {
        out += head;
        out += base::printable(line);
        out += '\n';
        head = {};
    }
    std::cerr << out;
}

}  // namespace

void show_error(const base::Error& error) {
    put_lines("stapgen: ", error.what);
    if (!error.hint.empty()) put_lines("  hint: ", error.hint);
}

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
