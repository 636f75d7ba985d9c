// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/terminal.h"

#include <sys/ioctl.h>

#include <iostream>

#include "base/text.h"

namespace stapgen::base {

void print_message(std::string_view text) {
    std::string out = "stapgen: ";
    for (const auto line : split(text, '\n'))
        out += printable(line) + '\n';
    std::cerr << out;
}

void print_message(const std::vector<std::string>& texts) {
    for (const auto& text : texts)
        print_message(text);
}

std::string error_text(const Error& error) {
    return error.hint.empty() ? error.what : error.what + "\n  hint: " + error.hint;
}

void show_error(const Error& error) {
    print_message(error_text(error));
}

std::size_t terminal_columns(int descriptor) {
    winsize size{};
    return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace stapgen::base
