// SPDX-License-Identifier: GPL-2.0-or-later
// What a packet's reader waited for longest: tapsets/c/who_packet.h.
#include "who_world.h"

namespace {

/// What the record says of the packet that was taken last.
struct Longest {
    std::string waited, by;
    s64 ns = 0;
};
Longest longest() {
    stapgen_line line;
    line.length = 0;
    stapgen_put_longest(&line);
    std::istringstream fields(std::string(line.text, line.length));
    Longest found;
    std::string first, ns;
    std::getline(fields, first, '\t');
    std::getline(fields, found.waited, '\t');
    std::getline(fields, found.by, '\t');
    std::getline(fields, ns, '\t');
    CHECK(first.empty());
    found.ns = std::stoll(ns);
    return found;
}
void check_longest(const std::string& waited, const std::string& by, s64 ns) {
    const auto found = longest();
    CHECK(found.waited == waited);
    CHECK(found.by == by);
    CHECK(std::abs(found.ns - ns) < 40);
}

}  // namespace

TEST_CASE("of each packet it is known what its reader waited for longest since it lay ready") {
    World world;
    world.turns_to(1);
    const s64 before = shim_time;
    world.reads(before);
    check_longest("-", "-", 0);  // it was not followed
    const auto waits = [&](int by, s64 ns) {
        world.turns_to(by);
        shim_time += ns;
        world.turns_to(1);
    };
    shim_time += 5000;
    const s64 first = shim_time;
    waits(2, 700);
    const s64 second = shim_time;
    waits(3, 1000);
    waits(2, 400);
    const s64 third = shim_time;
    waits(3, 200);
    world.reads(first);
    check_longest("run-queue", "c[23]", 1200);
    // b was longer in sum, but not since then; and of the wait in which it lay ready a part.
    world.reads(first + 300);
    check_longest("run-queue", "c[23]", 1200);
    world.reads(second + 700);
    check_longest("run-queue", "c[23]", 500);
    world.reads(second + 950);
    check_longest("run-queue", "b[22]", 400);
    world.reads(third);
    check_longest("run-queue", "c[23]", 200);
    world.reads(shim_time);
    check_longest("-", "-", 0);
    // Before the thread was followed it may have waited for something longer.
    world.reads(before - 20000);
    check_longest("-", "-", 0);
    // Nothing of it was in the sums twice.
    const auto printed = print();
    CHECK(std::abs(printed.at("21 run-queue b[22]").held - 1100) < 40);
    CHECK(std::abs(printed.at("21 run-queue c[23]").held - 1200) < 40);
}

TEST_CASE("a packet's reader may have slept, or been in a throttled cgroup or beside a softirq") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    s64 ready = shim_time;
    kernel_stack = {in("__schedule"), in("schedule"), in("futex_wait_queue"), in("do_futex")};
    world.turns_to(0, true);
    shim_time += 7000;
    world.wakes(1, 0);
    shim_time += 50;
    world.turns_to(1);
    world.reads(ready);
    check_longest("asleep", "futex_wait_queue", 7000);

    ready = shim_time;
    world.turns_to(2);
    stapgen_who_enters(STAPGEN_BY_SOFTIRQ, 3, nullptr);
    shim_time += 2000;
    stapgen_who_leaves(STAPGEN_BY_SOFTIRQ, 3);
    shim_time += 100;
    world.turns_to(1);
    world.reads(ready);
    check_longest("run-queue", "softirq:NET_RX", 2000);

    kernfs_node node{4711};
    cgroup group{{&group, nullptr}, &node};
    cgroup_subsys_state css{&group, nullptr};
    css_set set{{&css}};
    auto* const queue = reinterpret_cast<cfs_rq*>(0x10001);
    world.tasks[1].cgroups = &set;
    world.tasks[1].se = {0, 0, nullptr, queue};
    ready = shim_time;
    stapgen_note_throttled(reinterpret_cast<unsigned long>(queue));
    world.turns_to(2);
    shim_time += 3000;
    stapgen_note_unthrottled(reinterpret_cast<unsigned long>(queue));
    shim_time += 100;
    world.turns_to(1);
    world.reads(ready);
    check_longest("throttled", "cgroup:4711", 3000);
}

TEST_CASE("what a packet waited for is not claimed where the larger part of it is no more known") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    const auto waits = [&](int by, s64 ns) {
        world.turns_to(by);
        shim_time += ns;
        world.turns_to(1);
    };
    waits(4, 100000);
    const s64 ready = shim_time;
    for (int i = 0; i < STAPGEN_PIECES; i++)
        waits(2 + i % 2, 10000 + 1000 * (i % 2));
    const auto uncovered = shim_time - ready;
    world.reads(ready);
    check_longest("run-queue", "c[23]", 11000 * STAPGEN_PIECES / 2);
    // The oldest is overwritten: by so little that nothing else can be longer, then by more.
    waits(3, 7);
    world.reads(ready);
    check_longest("run-queue", "c[23]", 11000 * STAPGEN_PIECES / 2 + 7);
    for (int i = 0; i < 4; i++)
        waits(2 + i % 2, 10);
    world.reads(ready);
    check_longest("-", "-", 0);
    CHECK(uncovered > 0);

    // More things than are told apart: their time is unknown.
    const s64 later = shim_time;
    for (int i = 0; i < STAPGEN_THINGS + 2; i++) {
        world.tasks[2].pid = 100 + i;
        waits(2, 1000);
    }
    world.tasks[2].pid = 200;
    waits(2, 2500);
    world.reads(later);
    check_longest("-", "-", 0);
    waits(2, 2000);
    world.reads(later);
    check_longest("run-queue", "b[200]", 4500);
}

TEST_CASE("a row that gave way to others is no packet's") {
    World world;
    world.turns_to(1);
    world.reads(shim_time);
    const s64 ready = shim_time;
    world.turns_to(2);
    shim_time += 1000;
    world.turns_to(1);
    world.reads(ready);
    check_longest("run-queue", "b[22]", 1000);
    for (auto& set : stapgen_who_sets)
        for (auto& row : set.row)
            row.serial += 100;
    CHECK(longest().waited == "-");
}
