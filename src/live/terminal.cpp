// SPDX-License-Identifier: GPL-2.0-or-later
#include "live/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <new>
#include <string>
#include <string_view>

#include "base/terminal.h"
#include "base/text.h"
// At the end: they name things that others name, too.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

namespace stapgen::live {

namespace {

/// Signals for which something is installed while there is a screen, and what was there before. Those of ncurses, which
/// takes them where nobody else has: a later Ctrl-C is nothing to it.
constexpr std::array crashes{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
constexpr std::array of_ncurses{SIGINT, SIGTERM, SIGTSTP, SIGWINCH};

/// The one screen, and what a dying program needs to end it: it may do no more than write() and tcsetattr().
struct Screen {
    SCREEN* screen = nullptr;
    termios modes{};       ///< of the terminal before us
    std::string sequence;  ///< ends ncurses' screen
    std::map<int, struct sigaction> actions_before;
};
Screen current;

void restore_and_die(int number) {
    [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, current.sequence.data(), current.sequence.size());
    ::tcsetattr(STDIN_FILENO, TCSANOW, &current.modes);
    // SA_RESETHAND has put the default back.
    ::raise(number);
}

void watch_signals() {
    for (const int number : of_ncurses)
        ::sigaction(number, nullptr, &current.actions_before[number]);
    struct sigaction action {};
    action.sa_handler = restore_and_die;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    for (const int number : crashes)
        ::sigaction(number, &action, &current.actions_before[number]);
}

/// The sequences of that name in this terminal's entry, ready to be written.
std::string sequences(std::initializer_list<const char*> names) {
    static std::string collected;
    collected.clear();
    for (const char* name : names) {
        const char* sequence = ::tigetstr(name);
        if (sequence == nullptr || sequence == reinterpret_cast<char*>(-1)) continue;
        ::tputs(sequence, 1, [](int byte) {
            collected += static_cast<char>(byte);
            return byte;
        });
    }
    return collected;
}

/// Ctrl-S would let each write() wait, and with it the reading of the measurement.
void ignore_flow_control() {
    termios modes{};
    ::tcgetattr(STDIN_FILENO, &modes);
    modes.c_iflag &= ~static_cast<tcflag_t>(IXON);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    ::def_prog_mode();
}

enum Pair : short { red = 1, cyan = 2 };

attr_t attributes_of(Style style) {
    const bool coloured = ::has_colors() && COLORS > 0;
    switch (style) {
        case Style::plain:
            return A_NORMAL;
        case Style::head:
            return A_REVERSE;
        case Style::heading:
            return A_BOLD;
        case Style::chosen:
            return A_BOLD | A_UNDERLINE;
        case Style::faint:
            return A_DIM;
        case Style::bar:
            return coloured ? static_cast<attr_t>(COLOR_PAIR(cyan)) : A_NORMAL;
        case Style::alert:
            return A_BOLD | (coloured ? static_cast<attr_t>(COLOR_PAIR(red)) : A_REVERSE);
    }
    return A_NORMAL;
}

Special special_of(int code) {
    static const std::map<int, Special> specials{{KEY_UP, Special::up},         {KEY_DOWN, Special::down},
                                                 {KEY_LEFT, Special::left},     {KEY_RIGHT, Special::right},
                                                 {KEY_PPAGE, Special::page_up}, {KEY_NPAGE, Special::page_down},
                                                 {KEY_HOME, Special::home},     {KEY_END, Special::end}};
    const auto found = specials.find(code);
    return found == specials.end() ? Special::none : found->second;
}

void start_colours() {
    if (::start_color() == ERR) return;
    ::use_default_colors();
    ::init_pair(red, COLOR_RED, -1);
    ::init_pair(cyan, COLOR_CYAN, -1);
}

}  // namespace

base::Result<void> Terminal::usable() {
    if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
        return base::bad_input("the live view needs a terminal for input and output", "leave --live out");
    }
    if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) {
        return base::bad_input("the live view needs the terminal, but this is a background job",
                               "bring it to the foreground, or omit --live");
    }
    const char* name = std::getenv("TERM");
    int found = 0;
    if (::setupterm(nullptr, STDOUT_FILENO, &found) == OK) {
        const bool moves = !sequences({"cup"}).empty() && !sequences({"clear"}).empty();
        ::del_curterm(::set_curterm(nullptr));
        if (moves) return {};
    }
    return base::cannot_here(fmt::format("no live view: terminfo cannot move the cursor on TERM '{}'",
                                         base::printable(name == nullptr ? "" : name)),
                             "set TERM to a known one, for example TERM=xterm; if terminfo is missing: apt-get install "
                             "ncurses-base; --no-live avoids this message");
}

base::Result<std::unique_ptr<Terminal>> Terminal::open(base::Colours colours) {
    STAPGEN_TRY(usable());
    std::cout.flush();
    const bool utf8 = base::take_locale();
    ::tcgetattr(STDIN_FILENO, &current.modes);
    watch_signals();
    // The size of the window now, whatever $LINES says.
    ::use_tioctl(TRUE);
    current.screen = ::newterm(nullptr, stdout, stdin);
    // What can still fail is memory; all else is in usable().
    if (current.screen == nullptr) throw std::bad_alloc();
    current.sequence = sequences({"rmcup", "rmkx", "cnorm", "sgr0"});
    ::cbreak();
    ::noecho();
    ignore_flow_control();
    ::keypad(stdscr, TRUE);
    ::nodelay(stdscr, TRUE);
    ::set_escdelay(25);
    ::curs_set(0);
    if (base::wants_colours(colours, STDOUT_FILENO)) start_colours();
    return std::unique_ptr<Terminal>(new Terminal(utf8));
}

Terminal::~Terminal() {
    ::endwin();
    ::delscreen(current.screen);
    for (const auto& [number, action] : current.actions_before)
        ::sigaction(number, &action, nullptr);
    current = {};
    std::setlocale(LC_CTYPE, "C");
}

Size Terminal::size() const {
    return {static_cast<std::size_t>(::getmaxy(stdscr)), static_cast<std::size_t>(::getmaxx(stdscr))};
}

std::optional<Key> Terminal::key() {
    const int code = ::getch();
    if (code == ERR) return std::nullopt;
    constexpr int control_l = 'L' & 0x1f;
    if (code == control_l) ::clearok(curscr, TRUE);
    if (code < 0x80) return Key{.letter = static_cast<char>(code)};
    return Key{.special = special_of(code)};
}

void Terminal::draw(const std::vector<Line>& screen) {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&output, 1, 0) <= 0) return;
    ::erase();
    int row = 0;
    for (const auto& line : screen) {
        ::move(row++, 0);
        for (const auto& [text, style] : line) {
            ::attrset(static_cast<int>(attributes_of(style)));
            ::addstr(text.c_str());
        }
    }
    ::attrset(A_NORMAL);
    ::refresh();
}

}  // namespace stapgen::live
