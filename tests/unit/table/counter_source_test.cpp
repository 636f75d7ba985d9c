// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/counter_source.h"

#include <doctest/doctest.h>

#include <vector>

using namespace stapgen::table;

TEST_CASE("two sources may be one if nothing speaks against it: a host that is not known is any") {
    const CounterSource unknown, n1{.host = "n1"}, n2{.host = "n2"}, blue{.inside = "netns blue"},
        client{.heading = "Client"};
    CHECK(unknown.may_be(n1));
    CHECK(n1.may_be({.host = "n1.example.com"}));
    CHECK_FALSE(n1.may_be({.host = "n10"}));
    CHECK_FALSE(n1.may_be(n2));
    CHECK_FALSE(unknown.may_be(blue));
    CHECK_FALSE(unknown.may_be(client));
    // By ssh, from whatever host.
    const CounterSource reached{.host = "jump", .reached = "n1"};
    CHECK(reached.may_be(n1));
    CHECK(reached.may_be({.reached = "n1"}));
    CHECK_FALSE(reached.may_be({.host = "jump"}));
    CHECK_FALSE(reached.may_be(unknown));
    const std::vector<CounterSource> one{n1}, two{n1, n2}, both{n1, unknown};
    CHECK(find_source(one, unknown) == 0);
    CHECK(find_source(two, n2) == 1);
    CHECK_FALSE(find_source(two, unknown));
    CHECK(find_source(both, unknown) == 1);
    CHECK_FALSE(find_source({}, unknown));
}

TEST_CASE("what counters are of, with their source") {
    const CounterSource all{.host = "n1", .inside = "netns blue", .heading = "Client"};
    CHECK(all.text("eth0") == "eth0 in netns blue on n1 of Client");
    CHECK(all.text("-") == "netns blue on n1 of Client");
    CHECK(CounterSource{.host = "jump", .reached = "n2"}.text("eth0") == "eth0 on n2");
    CHECK(CounterSource{.host = "jump", .reached = "n2"}.description() == "host n2");
    CHECK(CounterSource{}.text("-") == "-");
    CHECK(CounterSource{}.text("cpu0") == "cpu0");
}
