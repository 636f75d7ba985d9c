// SPDX-License-Identifier: GPL-2.0-or-later
// Threads on two CPUs, for the tests of tapsets/c/who.h and who_packet.h.
#pragma once

#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <vector>

#define STAPGEN_WHO_THREAD_BITS 1
#include "world.h"

namespace {
task_struct* the_current = nullptr;
}
#undef current
#define current the_current

// world.h is first: it has what the C is made of.
#include "c/who_packet.h"
#include "call_path.h"

namespace {

/// What one thing has been waited for.
struct Waited {
    s64 n = 0, ns = 0, held = 0, max = 0;
};
/// By "tid waited by".
using Printed = std::map<std::string, Waited>;

Printed print() {
    shim_printed.clear();
    stapgen_print_who(stapgen_print_who_row);
    Printed all;
    std::istringstream lines(shim_printed);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string> fields;
        std::istringstream each(line);
        for (std::string field; std::getline(each, field, '\t');)
            fields.push_back(field);
        REQUIRE(fields.size() == 9);
        const bool of_cgroup = fields[0] == "who-cgroup";
        if (of_cgroup) std::rotate(fields.begin() + 4, fields.end() - 1, fields.end());
        auto& waited = all[fields[1] + ' ' + fields[3] + ' ' + fields[4]];
        CHECK(waited.ns == 0);  // one line each
        waited = {std::stoll(fields[5]), std::stoll(fields[6]), std::stoll(fields[7]), std::stoll(fields[8])};
    }
    return all;
}
s64 sum_of(const Printed& printed) {
    s64 sum = 0;
    for (const auto& [what, waited] : printed)
        sum += waited.ns;
    return sum;
}

/// Threads, each with a number and a name; 0 is idle.
struct World {
    task_struct tasks[8];
    task_struct* runs[2] = {&tasks[0], &tasks[0]};
    unsigned sleep_state = 1;

    World() {
        std::memset(stapgen_who_sets, 0, sizeof(stapgen_who_sets));
        std::memset(stapgen_who_threads_places, 0, sizeof(stapgen_who_threads_places));
        std::memset(stapgen_who_cpus, 0, sizeof(stapgen_who_cpus));
        std::memset(stapgen_throttled_places, 0, sizeof(stapgen_throttled_places));
        stapgen_any_throttled = 0;
        for (int i = 0; i < 8; i++) {
            tasks[i] = {};
            tasks[i].pid = tasks[i].tgid = i ? 20 + i : 0;
            std::snprintf(tasks[i].comm, sizeof(tasks[i].comm), "%c", 'a' + i - 1);
        }
        on(1);
        on(0);
    }
    void on(int cpu) { shim_cpu = cpu; }
    /// This CPU turns to a thread; the one before stays runnable, or sleeps.
    void turns_to(int to, bool sleeps = false) {
        task_struct* from = runs[shim_cpu];
        from->__state = sleeps ? sleep_state : 0;
        stapgen_who_switches(from, &tasks[to], 0);
        tasks[to].__state = 0;
        tasks[to].cpu = shim_cpu;
        runs[shim_cpu] = &tasks[to];
    }
    void wakes(int task, int cpu) {
        tasks[task].cpu = cpu;
        tasks[task].__state = 0;
        stapgen_who_wakes(&tasks[task]);
    }
    /// The thread that runs here takes a packet that was ready since then.
    void reads(s64 ready) {
        the_current = runs[shim_cpu];
        stapgen_who_reads(ready);
    }
};

/// So long, give or take a few looks at the clock.
void check(const Printed& printed, const std::string& what, s64 n, s64 ns, s64 max = 0) {
    INFO(what);
    REQUIRE(printed.count(what) == 1);
    CHECK(printed.at(what).n == n);
    CHECK(std::abs(printed.at(what).ns - ns) < 40);
    if (max) CHECK(std::abs(printed.at(what).max - max) < 20);
}

}  // namespace
