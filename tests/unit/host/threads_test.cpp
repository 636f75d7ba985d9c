// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/threads.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fakes/system/fake_system.h"

using namespace stapgen::host;

namespace {

/// /proc/PID/stat of memcached's worker, Linux 6.1, with what matters put in.
std::string stat_text(std::string_view name, char state, int threads, int start) {
    return fmt::format(
        "187 ({}) {} 1 180 180 0 -1 1077936192 311 0 0 0 7 13 0 0 20 0 {} 0 {} 424472576 1231 "
        "18446744073709551615 94340 94344 140726 0 0 0 0 4096 16386 0 0 0 -1 1 0 0 0 0 0 0\n",
        name, state, threads, start);
}

}  // namespace

TEST_CASE("a state is read behind a name that looks like a state") {
    for (const auto* name : {"mc-worker", "a) Z 1 1", "((", ""}) {
        const auto state = parse_process_state(stat_text(name, 'S', 11, 4177));
        REQUIRE(state);
        CHECK(state->state == 'S');
        CHECK(state->threads == 11);
        CHECK(state->started_at == 4177);
        CHECK(state->cpu_ticks == 20);
        CHECK(state->child_cpu_ticks == 0);
        CHECK(state->resident_pages == 1231);
    }
    for (const auto* text :
         {"", "187 (x", "187 (x) S", "187 (x) S 1 2 3", "187 (x) SS 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"})
        CHECK_FALSE(parse_process_state(text));
}

TEST_CASE("a thread has ended with its own end, a process with its last thread's") {
    FakeSystem system;
    auto& stat = system.files["/proc/187/stat"];
    stat = stat_text("x", 'S', 3, 4177);
    const auto thread = Task::find(system, 187, false).value();
    const auto process = Task::find(system, 187, true).value();
    CHECK(thread.name() == "thread 187");
    CHECK(process.name() == "process 187");
    CHECK_FALSE(thread.has_ended(system));
    CHECK_FALSE(process.has_ended(system));

    stat = stat_text("x", 'Z', 2, 4177);  // its first thread has ended, another one runs
    CHECK(thread.has_ended(system));
    CHECK_FALSE(process.has_ended(system));
    stat = stat_text("x", 'Z', 1, 4177);  // nobody has collected it
    CHECK(process.has_ended(system));
    stat = stat_text("x", 'R', 3, 4999);  // the number is another's
    CHECK(thread.has_ended(system));
    CHECK(process.has_ended(system));
    system.files.clear();
    CHECK(process.has_ended(system));
    CHECK_FALSE(Task::find(system, 187, true));
}

TEST_CASE("the end of a real process is seen before anybody has collected it") {
    const auto machine = real_system();
    const auto& system = *machine;
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    const auto target = Task::find(system, child, true).value();
    CHECK_FALSE(target.has_ended(system));
    ::kill(child, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
    CHECK(target.has_ended(system));
    ::waitpid(child, nullptr, 0);
    CHECK(target.has_ended(system));
}

TEST_CASE("what a process takes is its own, of a tree that of all that it has started") {
    FakeSystem system;
    // utime and stime, then those of children that were waited for; pages are of the size of this machine.
    const auto process = [&](const std::string& pid, int cpu, int waited, int pages, const std::string& children) {
        system.files["/proc/" + pid + "/stat"] =
            fmt::format("{0} (x) S 1 1 1 0 -1 0 0 0 0 0 {1} 1 {2} 2 20 0 1 0 5 1000 {3} 0 0", pid, cpu, waited, pages);
        system.files["/proc/" + pid + "/task/" + pid + "/children"] = children;
    };
    process("187", 10, 100, 7, "190 191 ");
    process("190", 20, 0, 11, "");
    process("191", 30, 0, 13, "200 ");
    process("200", 40, 0, 17, "");
    const std::int64_t tick_ns = 1'000'000'000 / ::sysconf(_SC_CLK_TCK), page = ::sysconf(_SC_PAGESIZE);
    CHECK(use_of_process(system, 187).cpu.count() == 11 * tick_ns);
    CHECK(use_of_process(system, 187).resident_bytes == 7 * page);
    CHECK(use_of_tree(system, 187).cpu.count() == (11 + 21 + 31 + 41 + 102 + 2 + 2 + 2) * tick_ns);
    CHECK(use_of_tree(system, 187).resident_bytes == 48 * page);
    CHECK(use_of_tree(system, 4711).cpu.count() == 0);
    // One that says it has started itself.
    process("300", 1, 0, 1, "300");
    CHECK(use_of_tree(system, 300).resident_bytes < 100 * page);
}
