// SPDX-License-Identifier: GPL-2.0-or-later
// Which thread works for a request that another one has read: tapsets/c/app_turns.h.
#include <doctest/doctest.h>

#include "app_waits_world.h"

namespace {

/// Thread 1 waits for work; thread 0 reads a request, and wakes it for that.
struct Pool : World {
    Pool() {
        shim_task = 1;
        at(10);
        stapgen_clock_reads(now);
        goes_to_sleep(__NR_futex, {0, 128, 0});
        shim_task = 0;
        at(1'000);
    }
    void wakes(int task) {
        at(0);
        stapgen_clock_wakes(&shim_tasks[task]);
    }
};

}  // namespace

TEST_CASE("a request is handed over where that is proved") {
    Pool world;
    App app{};
    read(world, app);
    world.at(70);
    world.wakes(1);
    world.at(30);
    world.goes_to_sleep(__NR_epoll_pwait);
    world.at(5);
    world.runs(1);
    world.at(200);
    world.sleeps(__NR_fsync, {0}, 4'001, 3);
    reply(world, app, false);
    CHECK(app.of(STAPGEN_APP_WAIT_handed_over) == 0);
    CHECK(app.of(STAPGEN_APP_WAIT_running) == 70 + 200);
    CHECK(app.of(STAPGEN_APP_WAIT_run_queue) == 30 + 5 + 3);
    CHECK(app.of(STAPGEN_APP_WAIT_disk) == 4'001);
    CHECK(app.sum() == world.now - app.read);
    CHECK(rows() == std::map<std::string, Row>{{"disk 0001 on 8:3 - - -", {1, 4'001}}});
    // What it does afterwards is for nobody.
    world.at(10);
    world.sleeps(__NR_fsync, {0}, 11, 3);
    CHECK(rows().empty());
}

TEST_CASE("a request is not handed over where it may be another one") {
    Pool world;
    App app{};
    const auto is_handed = [&] {
        shim_task = 1;
        world.at(5);
        reply(world, app, false);
        return app.of(STAPGEN_APP_WAIT_handed_over) == 0;
    };
    SUBCASE("the worker was awake as it was read") {
        world.wakes(1);
        world.runs(1);
        shim_task = 0;
        read(world, app);
        shim_task = 1;
        world.goes_to_sleep(__NR_futex);
        shim_task = 0;
        world.wakes(1);
        CHECK_FALSE(is_handed());
    }
    SUBCASE("two are woken") {
        read(world, app);
        world.wakes(1);
        world.wakes(2);
        CHECK_FALSE(is_handed());
    }
    SUBCASE("one that is not woken replies") {
        read(world, app);
        world.wakes(1);
        shim_task = 2;
        world.at(5);
        reply(world, app, false);
        CHECK(app.of(STAPGEN_APP_WAIT_handed_over) == 5);
    }
    SUBCASE("it is woken behind the turn") {
        read(world, app);
        world.goes_to_sleep(__NR_epoll_pwait);
        world.runs(0);
        world.wakes(1);
        CHECK_FALSE(is_handed());
    }
    SUBCASE("it is woken in another one's turn") {
        App next{};
        read(world, app);
        read(world, next, 4713);
        world.wakes(1);
        CHECK_FALSE(is_handed());
    }
    SUBCASE("it is woken by the network") {
        read(world, app);
        shim_serving_softirq = 1;
        world.wakes(1);
        shim_serving_softirq = 0;
        CHECK_FALSE(is_handed());
    }
    SUBCASE("it has replied to another one meanwhile") {
        App next{};
        read(world, app);
        world.wakes(1);
        read(world, next, 4713);
        shim_task = 1;
        reply(world, next, false);
        CHECK_FALSE(is_handed());
    }
    SUBCASE("it has read another one meanwhile") {
        App next{};
        read(world, app);
        world.wakes(1);
        shim_task = 1;
        read(world, next, 4713);
        CHECK_FALSE(is_handed());
    }
    SUBCASE("its row is another request's by now") {
        read(world, app);
        world.wakes(1);
        stapgen_close_app(&app);
        shim_task = 0;
        world.at(1);
        read(world, app, 4713);
        CHECK_FALSE(is_handed());
    }
    SUBCASE("it is woken twice: it is") {
        read(world, app);
        world.wakes(1);
        world.runs(1);
        world.goes_to_sleep(__NR_futex, {0, 128, 2});
        shim_task = 0;
        world.wakes(1);
        world.runs(1);
        CHECK(is_handed());
    }
    SUBCASE("and else it is") {
        read(world, app);
        world.wakes(1);
        world.runs(1);
        CHECK(is_handed());
    }
}

TEST_CASE("a request goes from hand to hand, and who reads it may still reply") {
    Pool world;
    shim_task = 2;
    stapgen_clock_reads(world.now);
    world.goes_to_sleep(__NR_futex);
    shim_task = 0;
    world.at(1);
    App app{};
    read(world, app);
    world.at(11);
    world.wakes(1);
    world.runs(1);
    world.at(13);
    world.wakes(2);
    world.runs(2);
    world.at(17);
    SUBCASE("the last one replies") {
        reply(world, app, false);
        CHECK(app.of(STAPGEN_APP_WAIT_running) == 11 + 13 + 17);
    }
    SUBCASE("the one between") {
        shim_task = 1;
        reply(world, app, false);
        CHECK(app.of(STAPGEN_APP_WAIT_running) == 11 + 13 + 17);
    }
    SUBCASE("the first") {
        shim_task = 0;
        reply(world, app);
        CHECK(app.of(STAPGEN_APP_WAIT_running) == 11 + 13 + 17);
    }
}
