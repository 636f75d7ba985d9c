// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/remote.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

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

TEST_CASE("a condition that holds comes through by its number, and nothing else does") {
    const auto said = [](const std::string& line) {
        const auto held = parse_held(line);
        return held ? held_line(*held) : "nothing";
    };
    CHECK(said("@stapgen held 2 20000003\n") == "@stapgen held 2 20000003\n");
    CHECK(said("@stapgen held 0 0") == "@stapgen held 0 0\n");
    CHECK(said("@stapgen held 9223372036854775807 9223372036854775807") ==
          "@stapgen held 9223372036854775807 9223372036854775807\n");
    for (const auto& other :
         {std::string("@stapgen held"), std::string("@stapgen held 1"), std::string("@stapgen held 1 7 7"),
          std::string("@stapgen held -1 7"), std::string("@stapgen held 1 -9223372036854775808"),
          std::string("@stapgen held 9223372036854775808 7"), std::string("@stapgen held 1 \x1b[2J"),
          std::string("held 1 7"), "@stapgen held 1 " + std::string(100'003, '7')}) {
        CAPTURE(other);
        CHECK(said(other) == "nothing");
    }
}

namespace {

/// The orders of these pieces, one behind the other.
std::string orders_of(const std::vector<std::string>& pieces) {
    OrderReader reader;
    std::string all;
    for (const auto& piece : pieces)
        reader.add(piece, [&](const KeepOrder& order) { all += order_line(order); });
    return all;
}

}  // namespace

TEST_CASE("orders come through whole, however they are cut, and other lines are none") {
    CHECK(orders_of({"keep 1 2 web1\nkeep 7 0\n"}) == "keep 1 2 web1\nkeep 7 0\n");
    CHECK(orders_of({"k", "eep 1", " 2 root@web1:22", "\n", "keep 3 1"}) == "keep 1 2 root@web1:22\n");
    for (const auto& other : {std::string("go"), std::string("keep"), std::string("keep 1"), std::string("keep 0 1"),
                              std::string("keep -1 1"), std::string("keep 1 -1"), std::string("keep 1 1 a b"),
                              std::string("keep 1 9223372036854775808"), std::string("keep 1 1 a\x1b[2J"),
                              "keep 1 1 " + std::string(257, 'w'), "keep 1 1 " + std::string(1 << 20, 'w')}) {
        CAPTURE(other.substr(0, 64));
        CHECK(orders_of({other + "\nkeep 5 1 web2\n"}) == "keep 5 1 web2\n");
    }
}
