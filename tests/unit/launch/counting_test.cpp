// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include "fakes/system/fake_system.h"
#include "launch/child_process.h"

using namespace stapgen;
using namespace std::chrono_literals;

namespace {

/// Kinds of the lines that came.
struct SeenLines {
    int headers = 0, ready = 0, ticks = 0, ends = 0;
    launch::Handlers handlers;
    host::FakeSystem system;
    host::CounterLines lines{system, "stapgen\t3\tmine\tcounter\tname:text", "counter"};

    SeenLines() {
        handlers.tick_period = 1ms;
        handlers.output = [this](launch::Line line, launch::Control&) {
            CHECK_FALSE(line.cut);
            CHECK(ends == 0);
            headers += line.text.starts_with("stapgen\t");
            ready += line.text.starts_with("ready\t");
            ticks += line.text.starts_with("tick\t");
            ends += line.text.starts_with("end\t");
        };
    }
};

}  // namespace

TEST_CASE("counting begins and ends once, and has as many intervals as were asked for") {
    SeenLines seen;
    seen.handlers.output = [&, note = seen.handlers.output](launch::Line line, launch::Control& control) {
        note(line, control);
        if (seen.ticks == 3) control.request_stop();
    };
    const auto ending = launch::count(seen.lines, 10ms, seen.handlers);
    CHECK(ending.was_stopped);
    CHECK_FALSE(ending.interrupted);
    CHECK(ending.clean());
    CHECK(seen.headers == 1);
    CHECK(seen.ready == 1);
    CHECK(seen.ticks == 3);
    CHECK(seen.ends == 1);
}

TEST_CASE("without an interval there is none, and a handler's wish to stop is heard from the beginning on") {
    SeenLines seen;
    seen.handlers.output = [&, note = seen.handlers.output](launch::Line line, launch::Control& control) {
        note(line, control);
        control.request_stop();
    };
    CHECK(launch::count(seen.lines, 0ms, seen.handlers).was_stopped);
    CHECK(seen.ticks == 0);
    CHECK(seen.ends == 1);
}

TEST_CASE("Ctrl-C, however often, ends counting in order and does nothing afterwards") {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        SeenLines seen;
        seen.handlers.tick = [&](launch::Control&) {
            ::kill(::getpid(), number);
            ::kill(::getpid(), SIGINT);
        };
        const auto ending = launch::count(seen.lines, 0ms, seen.handlers);
        CHECK(ending.interrupted);
        CHECK_FALSE(ending.was_stopped);
        CHECK(seen.ends == 1);
    }
}
