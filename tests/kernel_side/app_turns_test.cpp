// SPDX-License-Identifier: GPL-2.0-or-later
// For which of several requests a thread works: tapsets/c/app_turns.h and questions.h.
#include <doctest/doctest.h>

#include "app_waits_world.h"

TEST_CASE("with several open requests each has its own turns, its own questions, and the others' turns") {
    World world;
    constexpr std::array<unsigned long, 6> until{0, 0, 0, 1'000};
    App first{}, second{};
    const auto wait_for = [&](const struct sock& sock, s64 ns) {
        world.sleeps(__NR_epoll_pwait, until, ns, 1, [&] { world.wakes_by(sock, 0); });
    };
    read(world, first, 4711);
    world.at(100);
    world.asks(world.database);
    wait_for(world.net_sock, 1'000);  // a turn of nobody
    read(world, second, 4713);
    world.at(200);
    world.asks(world.cache);
    wait_for(world.database, 3'000);
    world.reads_from(world.database);
    world.at(400);
    reply(world, first);
    // 1,000 in epoll_wait and 1 behind it as its only request; then its question, 200 and 3,000, until the first byte.
    CHECK(first.of(STAPGEN_APP_WAIT_running) == 100 + 400);
    CHECK(first.of(STAPGEN_APP_WAIT_server) == 200 + 3'000);
    CHECK(first.of(STAPGEN_APP_WAIT_other_sockets) == 1'000);
    CHECK(first.sum() == world.now - first.read);
    wait_for(world.cache, 50);
    world.reads_from(world.cache);
    world.at(7);
    reply(world, second);
    // Of its question's time 400 is the other's turn, which ends with its reply; from then on it is alone.
    CHECK(second.of(STAPGEN_APP_WAIT_running) == 200 + 7);
    CHECK(second.of(STAPGEN_APP_WAIT_server) == 3'000 + 400 + 1 + 50);
    CHECK(second.sum() == world.now - second.read);
    CHECK(rows().at("server.first ip4:6379 - - -") == Row{1, 3'000 + 1 + 400 + 50});
}

TEST_CASE("a request waits for another one's turn, and that is said") {
    World world;
    App first{}, second{};
    read(world, first, 4711);
    world.at(100);
    read(world, second, 4713);
    world.at(8'000);
    reply(world, second);
    world.at(30);
    reply(world, first);
    CHECK(second.of(STAPGEN_APP_WAIT_running) == 8'000);
    CHECK(first.of(STAPGEN_APP_WAIT_other_sockets) == 8'000);
    CHECK(first.of(STAPGEN_APP_WAIT_running) == 130);
    // Both wait for they do not say what.
    App third{}, fourth{};
    read(world, third, 4711);
    read(world, fourth, 4713);
    world.sleeps(__NR_epoll_pwait, {}, 50, 1);
    reply(world, third);
    CHECK(third.of(STAPGEN_APP_WAIT_undivided) == 51);
    reply(world, fourth);
    CHECK(fourth.sum() == world.now - fourth.read);
}

TEST_CASE("a goroutine's request is its own, whatever threads run it, and another goroutine's is not") {
    World world;
    std::array<std::array<unsigned long, 2>, 2> goroutines{{{10'000, 20'000}, {30'000, 40'000}}};
    const auto runs = [&](int task, std::size_t goroutine) {
        shim_task = task;
        world.self().regs.r14 = reinterpret_cast<unsigned long>(&goroutines[goroutine]);
        world.self().regs.sp = goroutines[goroutine][0] + 4'711;
    };
    App first{}, second{};
    runs(0, 0);
    read(world, first, 4711);
    world.at(100);
    world.asks(world.database);
    world.goes_to_sleep(__NR_futex);
    runs(0, 1);
    read(world, second, 4713);
    world.at(8'000);
    reply(world, second);
    CHECK(second.of(STAPGEN_APP_WAIT_goroutine) == 8'000);
    stapgen_clock_sees_readable(World::of(world.database));
    world.at(31);
    runs(1, 0);
    world.reads_from(world.database);
    world.at(70);
    reply(world, first, false);
    CHECK(first.of(STAPGEN_APP_WAIT_goroutine) == 100 + 70);
    CHECK(first.of(STAPGEN_APP_WAIT_server) == 8'000 + 31);
    CHECK(first.sum() == world.now - first.read);
    CHECK(rows().at("server.rest ip4:5432 - - -") == Row{1, 31});
    // What is in that register is no goroutine where the stack is elsewhere: then it is the thread.
    world.self().regs.sp = 50'000;
    App third{};
    read(world, third, 4711);
    world.at(7);
    reply(world, third);
    CHECK(third.of(STAPGEN_APP_WAIT_running) == 7);
}

TEST_CASE("a question on a connection that is made for it is its request's, whosever turn it is as it is sent") {
    World world;
    constexpr std::array<unsigned long, 6> until{0, 0, 0, 1'000};
    App first{}, second{};
    const void* fault = nullptr;
    const auto connects = [&](const struct sock& sock) {
        world.at(0);
        stapgen_clock_connects(World::of(sock), &fault);
    };
    const auto answer = [&](const struct sock& sock, s64 ns) {
        world.sleeps(__NR_epoll_pwait, until, ns, 1, [&] { world.wakes_by(sock, 0); });
        world.reads_from(sock);
    };
    read(world, first, 4711);
    connects(world.database);
    world.at(10);
    read(world, second, 4713);
    connects(world.cache);
    world.at(10);
    stapgen_turn_ends();
    SUBCASE("each has its own") {
        world.asks(world.database);  // both are writable
        world.at(20);
        world.asks(world.cache);
        world.at(20);
        answer(world.database, 3'000);
        world.at(30);
        reply(world, first);
        CHECK(first.of(STAPGEN_APP_WAIT_running) == 10 + 20 + 30);
        CHECK(first.of(STAPGEN_APP_WAIT_server) == 10 + 20 + 3'000);
        CHECK(first.of(STAPGEN_APP_WAIT_undivided) <= 1);
        CHECK(first.sum() == world.now - first.read);
        answer(world.cache, 500);
        reply(world, second);
        CHECK(second.of(STAPGEN_APP_WAIT_undivided) <= 1);
        CHECK(second.sum() == world.now - second.read);
    }
    SUBCASE("of one that has asked elsewhere before it is a pool's, and nobody's") {
        stapgen_turn_to(first.clock, &first, world.now);
        world.asks(world.net_sock);
        CHECK(first.connecting == 0);
        CHECK_FALSE(stapgen_has_asked(first.clock, World::of(world.database)));
    }
}

TEST_CASE("where tasks go from thread to thread nothing is said of what a thread did for one") {
    World world;
    App first{}, second{}, third{};
    read(world, first, 4711);
    shim_task = 1;
    read(world, second, 4713);
    world.at(10);
    SUBCASE("another thread reads the answer") {
        world.asks(world.database);
        shim_task = 0;
        world.reads_from(world.database);
        shim_task = 1;
        world.at(5);
        reply(world, second);
        CHECK(second.of(STAPGEN_APP_WAIT_undivided) == 15);
        shim_task = 0;
        reply(world, first);
        CHECK(first.of(STAPGEN_APP_WAIT_running) == 15);
    }
    SUBCASE("one that reads requests replies to another one's: so do all from then on") {
        reply(world, first, false);
        CHECK(first.of(STAPGEN_APP_WAIT_handed_over) == 10);
        world.at(7);
        reply(world, second);
        CHECK(second.of(STAPGEN_APP_WAIT_undivided) == 17);
        read(world, third, 4711);
        world.at(3);
        reply(world, third);
        CHECK(third.of(STAPGEN_APP_WAIT_undivided) == 3);
    }
}

TEST_CASE("what comes from where a request was asked for is no request") {
    World world;
    App reply_of_server{};
    const auto whole = app_of(world, [&] {
        world.asks(world.database);
        world.at(300);
        world.reads_from(world.database);
        stapgen_note_app(&reply_of_server, stapgen_clock_reads(world.now), World::of(world.database), 1, world.now);
        world.at(7);
    });
    CHECK(whole.of(STAPGEN_APP_WAIT_running) == 307);
    CHECK(reply_of_server.clock == nullptr);
}

TEST_CASE("whatever threads do, parts are the whole of each request") {
    World world;
    std::mt19937 random(29);
    constexpr std::array<long, 5> calls{__NR_futex, __NR_fsync, __NR_epoll_pwait, __NR_nanosleep, -1};
    std::array<App, 5> apps{};
    std::array<int, 5> reader{};
    const auto some = [&](int most) { return static_cast<s64>(1 + random() % static_cast<unsigned>(most)); };
    int replies = 0, divided = 0;
    for (int i = 0; i < 200'003; ++i) {
        const auto at = random() % apps.size();
        world.at(some(1'009));
        switch (random() % 10) {
            case 0:
            case 1:
                if (apps[at].read == 0) {
                    read(world, apps[at], 4711 + at);
                    reader[at] = shim_task;
                }
                break;
            case 2:
            case 3:
                if (apps[at].read == 0) break;
                reply(world, apps[at], reader[at] == shim_task);
                REQUIRE(apps[at].sum() == world.now - apps[at].read);
                clear(stapgen_mixing);
                ++replies;
                divided += apps[at].of(STAPGEN_APP_WAIT_undivided) + apps[at].of(STAPGEN_APP_WAIT_handed_over) == 0;
                apps[at].read = 0;
                break;
            case 4:
                if (apps[at].read == 0 || random() % 5 != 0) break;
                stapgen_close_app(&apps[at]);
                apps[at].read = 0;
                break;
            case 5:
                world.asks(random() % 2 == 0 ? world.database : world.cache);
                break;
            case 6: {
                const auto& sock = random() % 2 == 0 ? world.database : world.cache;
                stapgen_clock_sees_readable(World::of(sock));
                world.at(some(7));
                world.reads_from(sock);
                break;
            }
            case 7: {  // another thread runs from now on
                const auto next = static_cast<int>(random() % 4);
                if (next == shim_task) break;
                world.goes_to_sleep(calls[random() % calls.size()], {0, 0, 0, random() % 2});
                world.at(some(101));
                if (random() % 7 != 0) {
                    shim_serving_softirq = random() % 3 == 0;
                    stapgen_clock_wakes(&shim_tasks[next]);
                    shim_serving_softirq = 0;
                }
                world.at(some(31));
                world.runs(next);
                break;
            }
            case 8:  // preempted
                world.at(0);
                stapgen_clock_switches(&world.self(), &shim_tasks[other], 1);
                world.at(some(1'009));
                world.runs(shim_task);
                break;
            default:
                world.sleeps(calls[random() % calls.size()], {0, 0, 0, random() % 2}, some(101), some(31));
        }
    }
    CHECK(replies > 10'000);
    CHECK(divided > replies / 10);
}
