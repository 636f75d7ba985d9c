// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "base/text.h"

namespace stapgen::base {

void print_message(std::string_view text) {
    std::string out = "stapgen: ";
    for (const auto line : split(text, '\n'))
        out += printable(line) + '\n';
    std::cerr << fitted(out, terminal_columns(STDERR_FILENO));
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

bool wants_colours(Colours colours, int descriptor) {
    if (colours != Colours::automatic) return colours == Colours::always;
    const auto value_of = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string_view(value == nullptr ? "" : value);
    };
    return ::isatty(descriptor) == 1 && value_of("NO_COLOR").empty() && value_of("TERM") != "dumb";
}

bool take_locale() {
    if (std::setlocale(LC_CTYPE, "") == nullptr) {
        // Where the locale that is asked for is not installed, as in many a container, its characters are known anyway.
        std::string asked;
        for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
            if (const char* value = std::getenv(name); asked.empty() && value != nullptr) asked = upper(value);
        }
        if (asked.ends_with("UTF-8") || asked.ends_with("UTF8")) std::setlocale(LC_CTYPE, "C.UTF-8");
    }
    return std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
}

Screen screen_of(int descriptor, Colours colours) {
    Screen screen{.width = terminal_columns(descriptor), .colours = wants_colours(colours, descriptor)};
    if (screen.width == 0) return screen;
    screen.utf8 = take_locale();
    std::setlocale(LC_CTYPE, "C");
    return screen;
}

std::string_view sequence_of(Ink ink) {
    switch (ink) {
        case Ink::bad:
            return "\x1b[1;31m";
        case Ink::warning:
            return "\x1b[33m";
        case Ink::good:
            return "\x1b[32m";
        case Ink::strong:
            return "\x1b[1m";
        case Ink::plain:
            break;
    }
    return {};
}

std::string painted(std::string_view text, Ink ink) {
    const auto begin = sequence_of(ink);
    if (begin.empty()) return std::string(text);
    std::string out;
    const char* line_end = "";
    for (const auto line : split(text, '\n')) {
        out += std::exchange(line_end, "\n");
        if (!line.empty()) out += std::string(begin).append(line).append(ink_end);
    }
    return out;
}

void print_text(std::string_view text) {
    std::cout << fitted(text, terminal_columns(STDOUT_FILENO));
}

void print_comment(std::string_view text) {
    constexpr std::size_t mark = 2;
    const auto columns = terminal_columns(STDOUT_FILENO);
    const auto lines = columns > mark ? wrapped(text, columns - mark) : std::string(text);
    for (const auto line : split(lines, '\n'))
        std::cout << "# " << printable(line) << '\n';
}

void print_command(std::string_view command) {
    std::cout << fitted_command(shell_printable(command), terminal_columns(STDOUT_FILENO)) << '\n';
}

}  // namespace stapgen::base
