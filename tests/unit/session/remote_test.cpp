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
    for (const auto* other :
         {"", "@stapgen", "@stapgen 5", "@stapgen 5 x", "@stapgen 5 0 tcp-app", "@stapgen 5 0 tcp-app soon",
          "@stapgen 5 0 \x1b[2J 7", "stapgen: measuring", "@stapgen ready now and then"}) {
        CAPTURE(other);
        CHECK(said(other) == "nothing");
    }
}

TEST_CASE("a recording that was kept comes through with its name, and no name that would do harm") {
    const auto said = [](const std::string& line) {
        const auto kept = parse_kept(line);
        return kept ? kept_line(*kept) : "nothing";
    };
    CHECK(said("@stapgen kept 1009 /var/lib/a b.rec\n") == "@stapgen kept 1009 /var/lib/a b.rec\n");
    CHECK_FALSE(parse_status("@stapgen kept 1009 /a"));
    for (const auto& other :
         {std::string("@stapgen kept"), std::string("@stapgen kept 7"), std::string("@stapgen kept x /a"),
          std::string("@stapgen kept -7 /a"), std::string("kept 7 /a"), std::string("@stapgen kept 7 /a\x1b[2J"),
          "@stapgen kept 7 " + std::string(5000, 'x')}) {
        CAPTURE(other);
        CHECK(said(other) == "nothing");
    }
}

TEST_CASE("of what another process says the end is kept") {
    Said said;
    for (int i = 0; i < 10'007; ++i)
        said.add("stapgen: line " + std::to_string(i));
    CHECK(said.text().size() <= 8192);
    CHECK(said.text().starts_with("stapgen: line "));
    CHECK(reason_of(said.text()) == "line 10006");
    said.add(std::string(1 << 20, 'w'));
    CHECK(said.text().size() <= 8192);
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
