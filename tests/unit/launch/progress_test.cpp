// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/progress.h"

#include <doctest/doctest.h>

#include <sstream>

using namespace stapgen::launch;
using std::chrono::milliseconds;

namespace {

std::string shown(ProgressStyle style, std::size_t columns = 80) {
    std::ostringstream out;
    auto now = Progress::Clock::time_point{};
    Progress progress(out, style, columns);
    progress.begin_passes(now);
    progress.tick(now);
    progress.pass_over({1, milliseconds(171), false, false}, now += milliseconds(171));
    progress.tick(now += milliseconds(1500));
    progress.tick(now += milliseconds(100));
    progress.pass_over({2, milliseconds(2300), false, false}, now += milliseconds(700));
    progress.pass_over({3, milliseconds(1), false, false}, now);
    progress.pass_over({4, milliseconds(8092), false, false}, now += milliseconds(8092));
    progress.tick(now += milliseconds(5000));
    return out.str();
}

}  // namespace

TEST_CASE("on a terminal one line is redrawn, and taken away when the module is made") {
    CHECK(shown(ProgressStyle::terminal) ==
          "\r\x1b[Kstap pass 1 of 4: parsing the script ... 0 s"
          "\r\x1b[Kstap pass 2 of 4: looking up probe points ... 0 s"
          "\r\x1b[Kstap pass 2 of 4: looking up probe points ... 1 s"
          "\r\x1b[Kstap pass 3 of 4: translating to C ... 0 s"
          "\r\x1b[Kstap pass 4 of 4: compiling the module ... 0 s"
          "\r\x1b[K");
}

TEST_CASE("a line that is too long for the terminal is cut before its time") {
    const auto narrow = shown(ProgressStyle::terminal, 40);
    CHECK(narrow.starts_with("\r\x1b[Kstap pass 1 of 4: parsing the s ... 0 s\r"));
    CHECK(shown(ProgressStyle::terminal, 1).starts_with("\r\x1b[K ... 0 s\r"));
}

TEST_CASE("something else that takes its time has a line, too, until it is over") {
    std::ostringstream out;
    auto now = Progress::Clock::time_point{};
    {
        Progress progress(out, ProgressStyle::terminal, 0);
        progress.begin("loading the module", now);
        progress.tick(now += milliseconds(1009));
        progress.clear();
        progress.tick(now);
    }
    CHECK(out.str() ==
          "\r\x1b[Kloading the module ... 0 s\r\x1b[Kloading the module ... 1 s"
          "\r\x1b[K\r\x1b[Kloading the module ... 1 s\r\x1b[K");
}

TEST_CASE("elsewhere only a pass that took its time gets a line") {
    CHECK(shown(ProgressStyle::lines) ==
          "stap pass 2: looking up probe points took 2.30 s\n"
          "stap pass 4: compiling the module took 8.09 s\n");
}

TEST_CASE("quiet means nothing at all") {
    CHECK(shown(ProgressStyle::none).empty());
}
