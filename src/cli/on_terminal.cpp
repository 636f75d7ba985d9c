#include "cli/on_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace stapgen::cli {

std::size_t terminal_columns(int descriptor) {
    winsize size{};
    return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

launch::ProgressStyle progress_style(bool quiet) {
    using launch::ProgressStyle;
    if (quiet) return ProgressStyle::none;
    const char* name = std::getenv("TERM");
    const bool redraws = ::isatty(STDERR_FILENO) == 1 && name != nullptr && std::string_view(name) != "dumb";
    return redraws ? ProgressStyle::terminal : ProgressStyle::lines;
}

}  // namespace stapgen::cli
