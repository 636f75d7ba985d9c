#include "base/terminal.h"

#include <sys/ioctl.h>

#include <iostream>
#include <string>

#include "base/text.h"

namespace stapgen::base {

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

void tell(std::string_view text) {
    put_lines("stapgen: ", text);
}

void show_error(const base::Error& error) {
    put_lines("stapgen: ", error.what);
    if (!error.hint.empty()) put_lines("  hint: ", error.hint);
}

std::size_t terminal_columns(int descriptor) {
    winsize size{};
    return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace stapgen::base
