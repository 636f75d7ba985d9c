// SPDX-License-Identifier: GPL-2.0-or-later
// What threads do between a request's read and its reply: tapsets/c/app_waits.h and sleep_kind.h.
#include <doctest/doctest.h>
#include <fcntl.h>

#include "app_waits_world.h"

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
                       {__NR_flock, {0}, STAPGEN_APP_WAIT_kernel_lock},
                       {__NR_fcntl, {0, F_SETLKW}, STAPGEN_APP_WAIT_kernel_lock},
                       {__NR_fcntl, {0, F_OFD_SETLKW}, STAPGEN_APP_WAIT_kernel_lock},
                       {__NR_fcntl, {0, F_SETLEASE}, STAPGEN_APP_WAIT_asleep},
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
    constexpr std::array<unsigned long, 6> until{0, 0, 0, 1'000}, forever{0, 0, 0, static_cast<unsigned long>(-1)};
    const auto polls = [&](auto wake, const auto& argument) {
        return app_of(world, [&] { world.sleeps(__NR_epoll_pwait, argument, 7'001, 1, wake); });
    };
    const auto by_interrupt = [&] {
        shim_hardirq = 1;
        stapgen_clock_wakes(&world.self());
        shim_hardirq = 0;
    };
    CHECK(polls([&] { world.wakes_by(world.database, 0); }, until).of(STAPGEN_APP_WAIT_other_sockets) == 7'001);
    const auto asks = app_of(world, [&] {
        world.asks(world.database);
        world.sleeps(__NR_ppoll, {}, 7'001, 1, [&] { world.wakes_by(world.database, 0); });
    });
    CHECK(asks.of(STAPGEN_APP_WAIT_server) == 7'001);
    // What was asked for the request before is another's.
    CHECK(polls([&] { world.wakes_by(world.database, 0); }, until).of(STAPGEN_APP_WAIT_server) == 0);
    CHECK(polls(by_interrupt, until).of(STAPGEN_APP_WAIT_timer) == 7'001);
    // No time ends that, so it is a device.
    CHECK(polls(by_interrupt, forever).of(STAPGEN_APP_WAIT_asleep) == 7'001);
    CHECK(polls([&] { stapgen_clock_wakes(&world.self()); }, forever).of(STAPGEN_APP_WAIT_process) == 7'001);
}

TEST_CASE("a stop of a traced thread is no sleep for what its call is for") {
    World world;
    const auto app = app_of(world, [&] {
        world.goes_to_sleep(__NR_fsync, {0}, 8);  // __TASK_TRACED
        world.at(7'001);
        stapgen_clock_wakes(&world.self());
        world.runs(shim_task);
    });
    CHECK(app.of(STAPGEN_APP_WAIT_asleep) == 7'001);
    CHECK(app.of(STAPGEN_APP_WAIT_disk) == 0);
}

TEST_CASE("what a call does not say the path does") {
    World world;
    struct Case {
        std::vector<std::string> path;
        int cause;
    };
    const Case cases[]{
        {{"__schedule", "rwsem_down_read_slowpath", "lock_mm_and_find_vma", "asm_exc_page_fault"},
         STAPGEN_APP_WAIT_kernel_lock},
        {{"schedule", "io_schedule", "folio_wait_bit_common", "do_swap_page", "handle_mm_fault"},
         STAPGEN_APP_WAIT_swap},
        {{"schedule", "folio_wait_bit_common", "filemap_fault", "handle_mm_fault"}, STAPGEN_APP_WAIT_disk},
        {{"schedule", "mem_cgroup_handle_over_high"}, STAPGEN_APP_WAIT_memory},
        {{"schedule", "io_schedule", "shrink_folio_list", "try_to_free_pages"}, STAPGEN_APP_WAIT_memory},
        {{"schedule", "handle_userfault", "do_anonymous_page"}, STAPGEN_APP_WAIT_process},
        {{"schedule", "do_something"}, STAPGEN_APP_WAIT_asleep}};
    for (const auto& [path, cause] : cases) {
        CAPTURE(path.back());
        sleep_in(path);
        const auto app = app_of(world, [&] { world.sleeps(-1, {}, 7'001, 3); });
        CHECK(app.of(cause) == 7'001);
    }
    // A file's own lock is no disk, a page that was evicted is one, and other memory is memory.
    sleep_in({"schedule", "rwsem_down_write_slowpath", "ext4_buffered_write_iter"});
    CHECK(app_of(world, [&] { world.sleeps(__NR_write, {0}, 11, 3); }).of(STAPGEN_APP_WAIT_kernel_lock) == 11);
    world.self().in_memstall = 1;
    sleep_in({"schedule", "folio_wait_bit_common", "filemap_read"});
    CHECK(app_of(world, [&] { world.sleeps(__NR_read, {0}, 13, 3); }).of(STAPGEN_APP_WAIT_disk) == 13);
    sleep_in({"schedule", "schedule_timeout_killable"});
    CHECK(app_of(world, [&] { world.sleeps(__NR_getpid, {}, 17, 3); }).of(STAPGEN_APP_WAIT_memory) == 17);
    world.self().in_memstall = 0;
    const auto app = app_of(world, [&] {
        world.at(19);
        world.at(0);
        stapgen_clock_reclaims(1);
        world.at(23);
        stapgen_clock_reclaims(0);
    });
    CHECK(app.of(STAPGEN_APP_WAIT_memory) == 23);
    CHECK(app.of(STAPGEN_APP_WAIT_running) == 19);
}

TEST_CASE("a wake-up that is seen before its sleep leaves no sleep, and one of a thread that runs none either") {
    World world;
    const auto app = app_of(world, [&] {
        // Off its queue, and on its way: the switch is seen behind the wake-up.
        world.self().on_rq = 0;
        world.self().__state = asleep;
        stapgen_clock_wakes(&world.self());
        world.goes_to_sleep(__NR_fsync);
        world.self().on_rq = 1;
        world.at(101);
        world.runs(0);
        stapgen_clock_wakes(&world.self());  // it runs, and goes on
        world.at(11);
        world.sleeps(__NR_fsync, {}, 307, 5);
    });
    CHECK(app.of(STAPGEN_APP_WAIT_run_queue) == 106);
    CHECK(app.of(STAPGEN_APP_WAIT_disk) == 307);
    CHECK(app.of(STAPGEN_APP_WAIT_running) == 11);
}

TEST_CASE("who woke a thread, who holds its lock, and what that did meanwhile") {
    World world;
    std::strcpy(shim_tasks[1].comm, "holder");
    std::array<u32, 4> mutex{2, 0, 102, 0};
    const auto word = reinterpret_cast<unsigned long>(mutex.data());
    std::ostringstream address;
    address << std::hex << "0x" << word;
    // Its holder is seen for the first time: what it does until its next switch is not known.
    const auto waits = [&] {
        return app_of(world, [&] {
            world.goes_to_sleep(__NR_futex, {word, 128, 2});
            shim_task = 1;
            world.at(5);
            world.goes_to_sleep(__NR_nanosleep);
            world.at(4'003);
            shim_hardirq = 1;
            stapgen_clock_wakes(&shim_tasks[1]);
            shim_hardirq = 0;
            world.runs(1);
            world.at(2'999);
            stapgen_clock_wakes(&shim_tasks[0]);
            world.at(1);
            shim_task = 0;
            world.runs(0);
        });
    };
    const auto lock = "lock " + address.str() + " holder[102] holder[102] timer";
    for (int i = 0; i < 3; ++i)
        CHECK(waits().of(STAPGEN_APP_WAIT_lock) == 5 + 4'003 + 2'999);
    CHECK(rows() == std::map<std::string, Row>{{lock, {3, 3 * 7'007}}});
    // The longest is the record's.
    const auto app = waits();
    CHECK(app.longest.ns == 7'007);
    stapgen_line line{};
    stapgen_put_longest_thing(&line, &app.longest);
    CHECK(std::string(line.text, static_cast<std::size_t>(line.length)) ==
          "\tlock\t" + address.str() + "\t7007\tholder[102]\tholder[102]\ttimer");
    // No thread of this process has that number: it is no such mutex.
    mutex[2] = 31'337;
    static_cast<void>(rows());
    waits();
    CHECK(rows() == std::map<std::string, Row>{{"lock " + address.str() + " holder[102] - -", {1, 7'007}}});
    // A file is named, and of a device nobody asks who woke it.
    app_of(world, [&] { world.sleeps(__NR_fsync, {0}, 31, 1); });
    CHECK(rows() == std::map<std::string, Row>{{"disk 0001 on 8:3 - - -", {1, 31}}});
}
