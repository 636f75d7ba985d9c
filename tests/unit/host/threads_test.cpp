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
