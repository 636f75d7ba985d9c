// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/moments.h"

#include <doctest/doctest.h>

using namespace stapgen;
using namespace stapgen::fleet;
using std::chrono::seconds;

namespace {

struct Three {
    std::vector<std::string> hosts{"web1", "root@web2", "web3"};
    session::KeepPlan keep;
    Moments::Clock::time_point begin{seconds(1009)};

    Three() {
        keep.conditions = {when::parse_condition("tcp-app p99 > 5ms").value(),
                           when::parse_condition("lost rise > 0").value()};
        keep.after = seconds(7);
    }
};

}  // namespace

TEST_CASE("what holds on one host all are told, by the name that was typed here") {
    const Three three;
    Moments moments(three.hosts, three.keep);
    std::size_t first = 0, second = 0;
    CHECK(moments.orders_for(0, first).empty());
    moments.held(1, {1, 8'120'000}, three.begin);
    CHECK(moments.orders_for(0, first) == "keep 1 1 root@web2\n");
    CHECK(moments.orders_for(0, first).empty());
    CHECK(moments.orders_for(1, second) == "keep 1 1\n");
    moments.asked(three.begin + seconds(67));
    CHECK(moments.orders_for(0, first) == "keep 2 0\n");
    // A host that begins later is told of later ones.
    std::size_t third = moments.count();
    moments.held(2, {0, 0}, three.begin + seconds(137));
    CHECK(moments.orders_for(0, third) == "keep 3 0 web3\n");
    const auto all = moments.all();
    CHECK(all[0].text == "root@web2: tcp-app p99 > 5ms over 1s (8.12 ms)");
    CHECK(all[1].text == "SIGUSR1");
    CHECK(all[2].text == "web3: SIGUSR1");
    CHECK(all[0].folder.starts_with("kept-1-20"));
    CHECK(moments.unkept() == 0);
}

TEST_CASE("a host that says all the time that something holds gets a moment each minute, and not without end") {
    Three three;
    three.keep.most = {1'000'000, 3};
    Moments moments(three.hosts, three.keep);
    for (int i = 0; i < 10'007; ++i)
        moments.held(0, {2, 1}, three.begin + std::chrono::milliseconds(i));
    CHECK(moments.count() == 1);
    CHECK(moments.unkept() == 10'006);
    // While hosts keep what is behind the one before, another one would be lost on them.
    moments.held(0, {2, 1}, three.begin + seconds(66));
    CHECK(moments.count() == 1);
    moments.held(0, {2, 1}, three.begin + seconds(67));
    CHECK(moments.count() == 2);
    moments.sent(999'999);
    moments.held(0, {2, 1}, three.begin + seconds(149));
    CHECK(moments.count() == 3);
    moments.held(0, {2, 1}, three.begin + seconds(1009));
    CHECK(moments.count() == 3);
}

TEST_CASE("no more is kept once a host has sent as much as it may") {
    Three three;
    three.keep.most = {1'000'000, 0};
    Moments moments(three.hosts, three.keep);
    moments.sent(1'000'000);
    moments.held(0, {1, 1}, three.begin);
    CHECK(moments.count() == 1);
    moments.held(0, {1, 1}, three.begin + seconds(307));
    CHECK(moments.count() == 1);
}

TEST_CASE("a condition that nobody has typed is none") {
    const Three three;
    Moments moments(three.hosts, three.keep);
    moments.held(0, {3, 1}, three.begin);
    moments.held(0, {static_cast<std::size_t>(-1), 1}, three.begin);
    CHECK(moments.count() == 0);
    CHECK(moments.unkept() == 0);
}
