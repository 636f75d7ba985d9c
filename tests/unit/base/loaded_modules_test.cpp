// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "base/kernel.h"

using namespace stapgen::base;

TEST_CASE("a copy of /proc/modules is read, hidden bases as none") {
    const auto modules = parse_loaded_modules(
        "nf_tables 389120 1 - Live 0xffffffffc0a31000\r\n\nstap_1 45056 0 nf_tables,xt, Live 0x0000000000000000 (OE)\n",
        "modules");
    REQUIRE(modules);
    REQUIRE(modules->size() == 2);
    CHECK((*modules)[0].name == "nf_tables");
    CHECK((*modules)[0].base == 0xffffffffc0a31000);
    CHECK((*modules)[0].size == 389120);
    CHECK_FALSE((*modules)[1].base);
}

TEST_CASE("what is no line of /proc/modules is reported with line and column") {
    const auto what = [](std::string_view text) {
        const auto modules = parse_loaded_modules(text, "m");
        return modules ? "" : modules.error().what;
    };
    CHECK(what("a 1 0 - Live 0x1\nb x 0 - Live 0x2\n").find("line 2, column 3") != std::string::npos);
    CHECK(what("a 1 0 - Live ffff\n").find("line 1, column 14") != std::string::npos);
    CHECK(what("a 1\n").find("line 1, column 3") != std::string::npos);
}
