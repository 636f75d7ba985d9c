// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/runner.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "base/files.h"
#include "fakes/system/fake_system.h"

using namespace stapgen;
using namespace stapgen::serve;
using std::chrono::seconds;

namespace {

/// Each of its processes has used 7 s of CPU, the first one has a page of memory, the next one two.
struct BusyMachine final : host::FakeSystem {
    mutable std::set<std::string> processes;
    std::optional<std::string> read(const std::filesystem::path& path, std::size_t limit) const override {
        if (path.filename() != "stat") return FakeSystem::read(path, limit);
        processes.insert(path.parent_path().filename());
        return fmt::format("1 (x) S 0 0 0 0 0 0 0 0 0 0 {} 0 0 0 0 0 1 0 0 0 {}", 7 * ::sysconf(_SC_CLK_TCK),
                           processes.size());
    }
};

}  // namespace

TEST_CASE("each try waits twice as long, ten minutes at most, and a run that went on begins anew") {
    seconds wait{0};
    std::vector<std::int64_t> waits;
    for (int i = 0; i < 9; ++i) {
        wait = wait_after(wait, seconds(2));
        waits.push_back(wait.count());
    }
    CHECK(waits == std::vector<std::int64_t>{5, 10, 20, 40, 80, 160, 320, 600, 600});
    CHECK(wait_after(wait, seconds(599)) == seconds(600));
    CHECK(wait_after(wait, seconds(600)) == seconds(5));
}

TEST_CASE("the CPU time of a recipe is that of all its runs, also while one goes on") {
    const auto folder = base::PrivateDirectory::create().value();
    RecipeJob job;
    job.name = "x";
    // The first run ends, the second goes on until it is asked.
    job.argv = {"/bin/sh", "-c", "echo '@stapgen ready' >&2; read go; [ -e \"$0\" ] && exec cat; : >\"$0\"",
                (folder.path() / "once").string()};
    job.wait = seconds(0);
    const BusyMachine machine;
    SeriesLimit limit(1);
    std::atomic<int> stop = 0;
    Runner runner(job, machine, limit, stop);
    std::thread thread([&] { runner.run(); });
    host::ProcessUse use;
    for (int i = 0; i < 6000 && use.resident_bytes < 2 * ::sysconf(_SC_PAGESIZE); ++i) {
        ::usleep(10000);
        use = runner.status().use;
    }
    stop = 1;
    thread.join();
    CHECK(use.resident_bytes == 2 * ::sysconf(_SC_PAGESIZE));
    CHECK(use.cpu == seconds(14));
    CHECK(runner.status().use.cpu == seconds(14));
}
