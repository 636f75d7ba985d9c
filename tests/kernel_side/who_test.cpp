// SPDX-License-Identifier: GPL-2.0-or-later
// Who had the CPU, which cgroup was throttled, and where a thread slept: tapsets/c/who.h.
#include "who_world.h"

TEST_CASE("a thread that was pushed off its CPU waits for those that have it, softirqs and interrupts by themselves") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    shim_time += 1000;
    const s64 begin = shim_time;
    world.turns_to(2);
    shim_time += 500;
    irqaction action{"virtio0"};
    stapgen_who_enters_irq(26, &action);
    shim_time += 70;
    stapgen_who_enters(STAPGEN_BY_SOFTIRQ, 3, nullptr);
    shim_time += 200;
    stapgen_who_leaves(STAPGEN_BY_SOFTIRQ, 3);
    stapgen_who_leaves(STAPGEN_BY_IRQ, 26);
    shim_time += 500;
    world.turns_to(3);
    shim_time += 300;
    world.turns_to(1);
    const s64 all = shim_time - begin;
    auto printed = print();
    check(printed, "21 run-queue b[22]", 1, 1000, 1000);
    check(printed, "21 run-queue virtio0[irq 26]", 1, 70);
    check(printed, "21 run-queue softirq:NET_RX", 1, 200);
    check(printed, "21 run-queue c[23]", 1, 300);
    CHECK(std::abs(sum_of(printed) - all) < 10);
    CHECK(print().empty());  // since the last time

    // Again, twice: the longest is that of one wait.
    for (const s64 ns : {400, 900}) {
        world.turns_to(2);
        shim_time += ns;
        world.turns_to(1);
    }
    check(print(), "21 run-queue b[22]", 2, 1300, 900);
}

TEST_CASE("a wait that goes on while it is printed is one, as long as both parts, and the next one begins anew") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    world.turns_to(2);
    shim_time += 600;
    stapgen_who_enters(STAPGEN_BY_SOFTIRQ, 3, nullptr);
    check(print(), "21 run-queue b[22]", 1, 600, 600);
    stapgen_who_leaves(STAPGEN_BY_SOFTIRQ, 3);
    shim_time += 500;
    world.turns_to(1);
    check(print(), "21 run-queue b[22]", 0, 500, 1100);
    world.turns_to(2);
    shim_time += 400;
    world.turns_to(1);
    check(print(), "21 run-queue b[22]", 1, 400, 400);
}

TEST_CASE("a thread that is woken waits from then on, and for a CPU that does nothing, too") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    kernel_stack = {in("stack_trace_save"),
                    in("probe_1 [stap_0123456789]"),
                    in("__traceiter_sched_switch"),
                    in("__schedule"),
                    in("schedule"),
                    in("futex_wait_queue"),
                    in("do_futex")};
    world.turns_to(0, true);
    shim_time += 7000;
    world.wakes(1, 0);
    shim_time += 50;
    world.turns_to(1);
    std::ostringstream path;
    path << "21 asleep " << std::hex << in("futex_wait_queue") << ',' << in("do_futex");
    const auto printed = print();
    check(printed, path.str(), 1, 7000, 7000);
    check(printed, "21 run-queue idle", 1, 50);
    CHECK(printed.size() == 2);

    // In a receiving call it has nothing else to do.
    kernel_stack = {in("__schedule"), in("schedule_timeout"), in("wait_woken"), in("sk_wait_data"), in("tcp_recvmsg")};
    world.turns_to(0, true);
    shim_time += 7000;
    world.wakes(1, 0);
    world.turns_to(1);
    CHECK(print().size() <= 1);
}

TEST_CASE("a receiving call is on another socket where a packet lies ready all the time") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    kernel_stack = {in("__schedule"), in("schedule_timeout"), in("wait_woken"), in("sk_wait_data"), in("tcp_recvmsg")};
    std::ostringstream path;
    path << "21 asleep " << std::hex << in("wait_woken") << ',' << in("sk_wait_data") << ',' << in("tcp_recvmsg");
    for (const s64 ns : {STAPGEN_WAKEUP_NS / 2, 7'000'000}) {
        const s64 ready = shim_time;
        world.turns_to(0, true);
        shim_time += ns;
        world.wakes(1, 0);
        world.turns_to(1);
        world.reads(ready);
        const auto printed = print();
        CHECK(printed.count(path.str()) == (ns > STAPGEN_WAKEUP_NS));
        if (ns > STAPGEN_WAKEUP_NS) check(printed, path.str(), 1, ns, ns);
        CHECK(std::abs(STAPGEN_THIS_CPU(stapgen_who_longest)->ns - (ns > STAPGEN_WAKEUP_NS ? ns : 0)) < 40);
    }
}

TEST_CASE("a thread that is stopped or frozen is not asleep") {
    for (const char* waited : {"stopped", "frozen"}) {
        World world;
        world.turns_to(1);
        world.reads(shim_time);
        kernel_stack = {in("__schedule"), in("schedule"), in("get_signal")};
        world.tasks[1].frozen = 1;
        world.sleep_state = waited == std::string("stopped") ? 4 : 1;
        world.turns_to(0, true);
        shim_time += 9000;
        world.wakes(1, 0);
        world.turns_to(1);
        std::ostringstream path;
        path << "21 " << waited << ' ' << std::hex << in("get_signal");
        check(print(), path.str(), 1, 9000, 9000);
    }
}

TEST_CASE("a thread that goes to another CPU waits for who has that") {
    World world;
    world.on(1);
    world.turns_to(4);
    world.on(0);
    world.turns_to(1);
    world.reads(shim_time);
    world.turns_to(2);
    shim_time += 100;
    world.on(1);
    stapgen_who_moves(&world.tasks[1], 1);
    shim_time += 300;
    stapgen_who_moves(&world.tasks[1], 0);
    shim_time += 500;
    world.on(0);
    world.turns_to(1);
    const auto printed = print();
    check(printed, "21 run-queue b[22]", 1, 600, 600);
    check(printed, "21 run-queue d[24]", 1, 300);
}

TEST_CASE("what is throttled is told apart from who has the CPU, by the cgroup that is") {
    World world;
    const auto queue_of = [](long number) { return reinterpret_cast<cfs_rq*>(0x10000 + number); };
    kernfs_node nodes[3] = {{11}, {22}, {33}};
    cgroup cgroups[3];
    cgroup_subsys_state css[3] = {{&cgroups[0], &css[1]}, {&cgroups[1], &css[2]}, {&cgroups[2], nullptr}};
    sched_entity groups[2] = {{0, 0, &groups[1], queue_of(2)}, {0, 0, nullptr, queue_of(3)}};
    for (int i = 0; i < 3; i++)
        cgroups[i] = {{&cgroups[i], nullptr}, &nodes[i]};
    css_set set{{&css[0]}};
    world.tasks[1].cgroups = &set;
    world.tasks[1].se = {0, 0, &groups[0], queue_of(1)};

    world.turns_to(1);
    world.reads(shim_time);
    world.turns_to(2);
    shim_time += 100;
    // That of its parent.
    stapgen_note_throttled(reinterpret_cast<unsigned long>(queue_of(2)));
    shim_time += 3000;
    world.turns_to(3);
    shim_time += 4000;
    stapgen_note_unthrottled(reinterpret_cast<unsigned long>(queue_of(2)));
    shim_time += 200;
    world.turns_to(1);
    auto printed = print();
    check(printed, "21 throttled 22", 1, 7000, 7000);
    check(printed, "21 run-queue b[22]", 1, 100);
    check(printed, "21 run-queue c[23]", 1, 200);

    // Another's; and its own no more.
    stapgen_note_throttled(reinterpret_cast<unsigned long>(queue_of(4)));
    world.turns_to(2);
    shim_time += 500;
    world.turns_to(1);
    printed = print();
    check(printed, "21 run-queue b[22]", 1, 500);
    CHECK(printed.size() == 1);
}

TEST_CASE("a cgroup is throttled until it is let go first, and of two that are the longer one counts") {
    World world;
    const auto queue_of = [](long number) { return reinterpret_cast<cfs_rq*>(0x20000 + number); };
    kernfs_node nodes[2] = {{11}, {22}};
    cgroup cgroups[2];
    cgroup_subsys_state css[2] = {{&cgroups[0], &css[1]}, {&cgroups[1], nullptr}};
    sched_entity group = {0, 0, nullptr, queue_of(2)};
    for (int i = 0; i < 2; i++)
        cgroups[i] = {{&cgroups[i], nullptr}, &nodes[i]};
    css_set set{{&css[0]}};
    world.tasks[1].cgroups = &set;
    world.tasks[1].se = {0, 0, &group, queue_of(1)};
    world.turns_to(1);
    world.reads(shim_time);
    world.turns_to(2);
    const auto number_of = [&](long number) { return reinterpret_cast<unsigned long>(queue_of(number)); };
    bool is_own_longer = false;
    SUBCASE("that of its parent") {}
    SUBCASE("its own") {
        is_own_longer = true;
    }
    stapgen_note_throttled(number_of(is_own_longer ? 1 : 2));
    shim_time += 1000;
    stapgen_note_throttled(number_of(is_own_longer ? 2 : 1));
    shim_time += 2000;
    stapgen_note_unthrottled(number_of(is_own_longer ? 2 : 1));
    shim_time += 500;
    stapgen_note_unthrottled(number_of(is_own_longer ? 1 : 2));
    shim_time += 400;
    stapgen_note_unthrottled(number_of(is_own_longer ? 1 : 2));
    shim_time += 300;
    world.turns_to(1);
    const auto printed = print();
    check(printed, is_own_longer ? "21 throttled 11" : "21 throttled 22", 1, 3500);
    check(printed, "21 run-queue b[22]", 1, 700);
    CHECK(printed.size() == 2);
}

TEST_CASE("an event that was not seen is not made up for by a wrong name") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    irqaction action{"virtio0"};
    SUBCASE("the end of a softirq on top of an interrupt") {
        world.turns_to(2);
        stapgen_who_enters_irq(26, &action);
        stapgen_who_enters(STAPGEN_BY_SOFTIRQ, 3, nullptr);
        shim_time += 70;
        stapgen_who_leaves(STAPGEN_BY_IRQ, 26);
        shim_time += 900;
        world.turns_to(1);
        check(print(), "21 run-queue b[22]", 1, 900);
    }
    SUBCASE("the end of an interrupt, before the CPU turns to another thread") {
        world.turns_to(2);
        stapgen_who_enters_irq(26, &action);
        shim_time += 70;
        world.turns_to(3);
        shim_time += 900;
        world.turns_to(1);
        check(print(), "21 run-queue c[23]", 1, 900);
    }
    SUBCASE("the beginning of one") {
        world.turns_to(2);
        shim_time += 70;
        stapgen_who_leaves(STAPGEN_BY_IRQ, 26);
        shim_time += 900;
        world.turns_to(1);
        check(print(), "21 run-queue b[22]", 1, 970);
    }
    SUBCASE("a wake-up") {
        kernel_stack = {in("__schedule"), in("schedule"), in("futex_wait_queue")};
        world.turns_to(2, true);
        shim_time += 900;
        world.turns_to(1);
        std::ostringstream path;
        path << "21 asleep " << std::hex << in("futex_wait_queue");
        const auto printed = print();
        check(printed, path.str(), 1, 900);
        CHECK(printed.size() == 1);
    }
    SUBCASE("a wake-up of one that is awake begins no wait") {
        world.turns_to(2);
        shim_time += 300;
        world.wakes(1, 0);
        shim_time += 600;
        world.turns_to(1);
        check(print(), "21 run-queue b[22]", 1, 900, 900);
    }
}

TEST_CASE("a thread that was pushed off as it was going to sleep is runnable") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    world.tasks[1].__state = 1;
    stapgen_who_switches(&world.tasks[1], &world.tasks[2], 1);
    world.runs[0] = &world.tasks[2];
    shim_time += 700;
    world.turns_to(1);
    const auto printed = print();
    check(printed, "21 run-queue b[22]", 1, 700);
    CHECK(printed.size() == 1);
}

TEST_CASE("of each wait that part is known for which a packet lay ready, once") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    world.turns_to(2);
    shim_time += 1000;
    const s64 first = shim_time;
    shim_time += 400;
    world.turns_to(3);
    shim_time += 100;
    const s64 second = shim_time;
    shim_time += 100;
    world.turns_to(1);
    // The later one first; then the one before, whose time has that of the later one in it.
    world.reads(second);
    world.reads(first);
    world.reads(first);
    const auto printed = print();
    CHECK(std::abs(printed.at("21 run-queue b[22]").held - 400) < 20);
    CHECK(std::abs(printed.at("21 run-queue c[23]").held - 200) < 20);
}

TEST_CASE("where a CPU has more that wait than places, their waits are known and not by whom") {
    World world;
    stapgen_who_cpus[0].value.used = ~0UL;
    world.turns_to(1);
    world.reads(shim_time);
    world.turns_to(2);
    shim_time += 1000;
    world.turns_to(1);
    check(print(), "21 run-queue not seen", 1, 1000);
}

TEST_CASE("threads that give way to others, and those that end, leave nothing behind") {
    World world;
    const auto evicted = stapgen_count_now(STAPGEN_COUNT_who_threads_evicted);
    std::vector<task_struct> many(64);
    for (int i = 0; i < 64; i++) {
        many[i].pid = 100 + i;
        world.runs[0] = the_current = &many[i];
        stapgen_who_reads(shim_time);
        world.turns_to(2);  // it stays runnable
    }
    CHECK(stapgen_count_now(STAPGEN_COUNT_who_threads_evicted) - evicted >= 64 - 8);
    int places = 0;
    for (auto used = stapgen_who_cpus[0].value.used; used; used &= used - 1)
        places++;
    CHECK(places <= 8);
    the_current = &many[63];
    stapgen_who_ends();
    CHECK(stapgen_find_who(&many[63]) == nullptr);
}

TEST_CASE("each wait is in a row or counted as evicted") {
    World world;
    const auto evicted = stapgen_evicted_who();
    world.turns_to(1);
    world.reads(shim_time);
    s64 n = 0;
    for (int i = 0; i < 10000; i++) {
        world.tasks[2].pid = 1000 + i;
        world.turns_to(2);
        shim_time += 10;
        world.turns_to(1);
    }
    for (const auto& [what, waited] : print())
        n += waited.n;
    CHECK(n + s64(stapgen_evicted_who() - evicted) == 10000);
    CHECK(n >= 1024);
}
