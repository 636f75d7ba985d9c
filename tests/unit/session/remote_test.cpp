// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/remote.h"

#include <doctest/doctest.h>

using namespace stapgen::session;

TEST_CASE("how far a measurement is comes through as it was said") {
    const auto said = [](const std::string& line) {
        const auto status = parse_status(line);
        return status ? status_line(*status) : "nothing";
    };
    CHECK(said(status_line({})) == "@stapgen ready\n");
    CHECK(said(status_line({true, 1009, 0, "", {}})) == "@stapgen 1009 0\n");
    CHECK(said(status_line({true, 1009, 7, "tcp-app", 20'000'003})) == "@stapgen 1009 7 tcp-app 20000003\n");
    for (const auto* other : {"", "@stapgen", "@stapgen 5", "@stapgen 5 x", "@stapgen 5 0 tcp-app",
                              "@stapgen 5 0 tcp-app soon", "stapgen: measuring", "@stapgen ready now and then"}) {
        CAPTURE(other);
        CHECK(said(other) == "nothing");
    }
}

TEST_CASE("why a measurement failed is what stapgen says first, else the last line") {
    CHECK(reason_of("stapgen: measuring x; Ctrl-C ends it\nstapgen: there are no headers\n  hint: install them\n") ==
          "there are no headers");
    CHECK(reason_of(
              "stapgen: the module x was left in the kernel; stapgen removed it\nstapgen: x: it was ended by signal 9\n"
              "  hint: see the log\n") == "x: it was ended by signal 9");
    CHECK(reason_of("Connection closed\n\n") == "Connection closed");
    CHECK(reason_of("stapgen: a\x1b[2J\n") == "a\\x1b[2J");
    CHECK(reason_of("").empty());
}
