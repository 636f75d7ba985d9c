// SPDX-License-Identifier: GPL-2.0-or-later
// What threads do between a request's read and its reply: tapsets/c/thread_clock.h and sleep_kind.h.
#include <doctest/doctest.h>

#define STAPGEN_WAITS 1
#define STAPGEN_CLOCK_BITS 1
#include "world.h"

// world.h is first: it has what the C is made of.
#include <array>
#include <random>

#include "c/request.h"
#include "c/thread_clock.h"
#include "model.h"

namespace {

enum { asleep = 1, other = 1 };

struct World {
    struct file regular {
    }, pipe{}, unix_file{}, net_file{};
    struct inode regular_inode {
        S_IFREG
    }, pipe_inode{S_IFIFO}, socket_inode{S_IFSOCK};
    std::array<struct file*, 4> all{&regular, &pipe, &unix_file, &net_file};
    struct fdtable table {
        4, all.data()
    };
    struct files_struct files {
        &table
    };
    struct sock unix_sock {
    }, net_sock{};
    struct socket unix_socket {
    }, net_socket{};
    s64 now = 1'000'000;

    World() {
        clear(stapgen_clocks);
        clear(stapgen_threads);
        std::memset(&stapgen_woken_by, 0, sizeof(stapgen_woken_by));
        for (int i = 0; i < 3; ++i) {
            shim_tasks[i] = {101 + i, 100, "worker"};
            shim_tasks[i].files = &files;
        }
        shim_task = 0;
        shim_hardirq = shim_serving_softirq = 0;
        regular.f_inode = &regular_inode;
        pipe.f_inode = &pipe_inode;
        unix_file.f_inode = net_file.f_inode = &socket_inode;
        unix_sock.__sk_common.skc_family = AF_UNIX;
        net_sock.__sk_common.skc_family = AF_INET6;
        unix_socket.sk = &unix_sock;
        net_socket.sk = &net_sock;
        unix_file.private_data = &unix_socket;
        net_file.private_data = &net_socket;
    }
    struct task_struct& self() {
        return shim_tasks[0];
    }
    void at(s64 ns) {
        now += ns;
        shim_time = now - 1;  // as it is read next
    }
    /// In a call it goes to sleep for so long, and is woken; then it waits for its CPU.
    void sleeps(long call, std::array<unsigned long, 6> argument, s64 slept, s64 queued, auto wake) {
        self().regs.call = call;
        std::copy(argument.begin(), argument.end(), self().regs.argument);
        self().__state = asleep;
        at(0);
        stapgen_clock_switches(&self(), &shim_tasks[other], 0);
        at(slept);
        wake();
        self().__state = 0;
        at(queued);
        stapgen_clock_switches(&shim_tasks[other], &self(), 0);
    }
    void sleeps(long call, std::array<unsigned long, 6> argument, s64 slept, s64 queued) {
        sleeps(call, argument, slept, queued, [&] { stapgen_clock_wakes(&self()); });
    }
};

struct App : stapgen_app {
    s64 of(int cause) const { return waits.said >> cause & 1 ? waits.ns[cause] : 0; }
};

/// What a request waited for while its thread did `work`.
App app_of(World& world, auto work) {
    App app{};
    world.at(17);
    const s64 read = world.now;
    auto* clock = stapgen_clock_reads(read);
    stapgen_note_app(&app, clock, 4711, 1);
    work();
    stapgen_divide_app(&app, 1, world.now - read, world.now, world.now);
    return app;
}

}  // namespace

TEST_CASE("each sleep is for what its call and its arguments say, and the parts are the whole") {
    World world;
    struct Case {
        long call;
        std::array<unsigned long, 6> argument;
        int cause;
    };
    const Case cases[]{{__NR_futex, {0, 0, 2}, STAPGEN_APP_WAIT_lock},
                       {__NR_futex, {0, 128, 2}, STAPGEN_APP_WAIT_lock},
                       {__NR_futex, {0, 6 | 128, 0}, STAPGEN_APP_WAIT_lock},
                       {__NR_futex, {0, 128, 1}, STAPGEN_APP_WAIT_futex},
                       {__NR_futex, {0, 9 | 128 | 256, 2}, STAPGEN_APP_WAIT_futex},
                       {__NR_pread64, {0}, STAPGEN_APP_WAIT_disk},
                       {__NR_fsync, {0}, STAPGEN_APP_WAIT_disk},
                       {__NR_read, {1}, STAPGEN_APP_WAIT_process},
                       {__NR_recvfrom, {2}, STAPGEN_APP_WAIT_process},
                       {__NR_recvfrom, {3}, STAPGEN_APP_WAIT_other_sockets},
                       {__NR_read, {99}, STAPGEN_APP_WAIT_asleep},
                       {__NR_clock_nanosleep, {0}, STAPGEN_APP_WAIT_timer},
                       {__NR_wait4, {0}, STAPGEN_APP_WAIT_process},
                       {__NR_getpid, {0}, STAPGEN_APP_WAIT_asleep},
                       {-1, {0}, STAPGEN_APP_WAIT_asleep}};
    for (const auto& [call, argument, cause] : cases) {
        CAPTURE(call);
        CAPTURE(cause);
        const auto app = app_of(world, [&] {
            world.at(1'009);
            world.sleeps(call, argument, 7'001, 503);
            world.at(211);
        });
        CHECK(app.of(cause) == 7'001);
        CHECK(app.of(STAPGEN_APP_WAIT_run_queue) == 503);
        CHECK(app.of(STAPGEN_APP_WAIT_running) == 1'009 + 211);
        CHECK(app.of(STAPGEN_APP_WAIT_undivided) == 0);
    }
}

TEST_CASE("a wait for several things is for what ends it") {
    World world;
    const auto polls = [&](auto wake) {
        return app_of(world, [&] { world.sleeps(__NR_epoll_pwait, {}, 7'001, 1, wake); });
    };
    const auto by_packet = [&](unsigned long sk) {
        shim_serving_softirq = 1;
        stapgen_clock_sees_readable(sk);
        world.at(0);
        stapgen_clock_wakes(&world.self());
        shim_serving_softirq = 0;
    };
    CHECK(polls([&] { by_packet(17); }).of(STAPGEN_APP_WAIT_other_sockets) == 7'001);
    CHECK(app_of(world, [&] {
              stapgen_clock_asks(17);
              world.sleeps(__NR_ppoll, {}, 7'001, 1, [&] { by_packet(17); });
          }).of(STAPGEN_APP_WAIT_server) == 7'001);
    // What was asked for the request before is another's.
    CHECK(polls([&] { by_packet(17); }).of(STAPGEN_APP_WAIT_server) == 0);
    CHECK(polls([&] {
              shim_hardirq = 1;
              stapgen_clock_wakes(&world.self());
              shim_hardirq = 0;
          }).of(STAPGEN_APP_WAIT_timer) == 7'001);
    CHECK(polls([&] { stapgen_clock_wakes(&world.self()); }).of(STAPGEN_APP_WAIT_process) == 7'001);
}

TEST_CASE("a wake-up that is seen before its sleep leaves no sleep, and one of a thread that runs none either") {
    World world;
    const auto app = app_of(world, [&] {
        // Off its queue, and on its way: the switch is seen behind the wake-up.
        world.self().on_rq = 0;
        world.self().__state = asleep;
        stapgen_clock_wakes(&world.self());
        world.at(0);
        world.self().regs.call = __NR_fsync;
        stapgen_clock_switches(&world.self(), &shim_tasks[other], 0);
        world.self().on_rq = 1;
        world.at(101);
        stapgen_clock_switches(&shim_tasks[other], &world.self(), 0);
        stapgen_clock_wakes(&world.self());  // it runs, and goes on
        world.at(11);
        world.sleeps(__NR_fsync, {}, 307, 5);
    });
    CHECK(app.of(STAPGEN_APP_WAIT_run_queue) == 106);
    CHECK(app.of(STAPGEN_APP_WAIT_disk) == 307);
    CHECK(app.of(STAPGEN_APP_WAIT_running) == 11);
}

TEST_CASE("what another thread does, or one does for several, is not divided") {
    World world;
    App app{};
    auto* clock = stapgen_clock_reads(world.now);
    stapgen_note_app(&app, clock, 4711, 1);
    stapgen_divide_app(&app, 0, 1'009, world.now + 1'009, world.now + 1'009);
    CHECK(app.of(STAPGEN_APP_WAIT_handed_over) == 1'009);

    App first{}, second{};
    world.at(1);
    stapgen_note_app(&first, stapgen_clock_reads(world.now), 4711, 1);
    const s64 read = world.now;
    world.at(500);
    stapgen_note_app(&second, stapgen_clock_reads(world.now), 4713, 1);
    world.at(500);
    stapgen_divide_app(&first, 1, world.now - read, world.now, world.now);
    CHECK(first.of(STAPGEN_APP_WAIT_undivided) == 1'000);
    stapgen_divide_app(&second, 1, 500, world.now, world.now);
    CHECK(second.of(STAPGEN_APP_WAIT_running) == 500);

    // A reply is no request.
    App whole{}, reply{};
    world.at(1);
    stapgen_note_app(&whole, stapgen_clock_reads(world.now), 4711, 1);
    const s64 begin = world.now;
    stapgen_clock_asks(17);
    world.at(300);
    stapgen_note_app(&reply, stapgen_clock_reads(world.now), 17, 1);
    world.at(7);
    stapgen_divide_app(&whole, 1, world.now - begin, world.now, world.now);
    CHECK(whole.of(STAPGEN_APP_WAIT_running) == 307);
}

TEST_CASE("whatever threads do, parts are the whole of each request") {
    World world;
    std::mt19937 random(29);
    constexpr std::array<long, 5> calls{__NR_futex, __NR_fsync, __NR_epoll_pwait, __NR_nanosleep, -1};
    for (int i = 0; i < 10'007; ++i) {
        s64 whole = 0;
        const auto app = app_of(world, [&] {
            const s64 begin = world.now;
            for (auto steps = random() % 5; steps != 0; --steps) {
                world.at(1 + random() % 1'009);
                if (random() % 3 == 0) {  // preempted
                    world.at(0);
                    stapgen_clock_switches(&world.self(), &shim_tasks[other], 1);
                    world.at(1 + random() % 1'009);
                    stapgen_clock_switches(&shim_tasks[other], &world.self(), 0);
                } else if (random() % 7 == 0) {  // its wake-up is not seen
                    world.sleeps(calls[random() % calls.size()], {}, 1 + random() % 101, 1, [] {});
                } else {
                    world.sleeps(calls[random() % calls.size()], {}, 1 + random() % 101, 1 + random() % 31);
                }
            }
            whole = world.now - begin;
        });
        s64 sum = 0;
        for (int cause = 0; cause < STAPGEN_APP_CAUSES; ++cause)
            sum += app.of(cause);
        CHECK(sum == whole);
        CHECK(app.of(STAPGEN_APP_WAIT_undivided) == 0);
    }
}
