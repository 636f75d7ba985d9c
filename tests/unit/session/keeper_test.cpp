// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/keeper.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/files.h"

using namespace stapgen;
namespace fs = std::filesystem;

namespace {

/// Recordings of a thousand bytes.
void make(const fs::path& folder, const std::vector<std::string>& names) {
    for (const auto& name : names)
        CHECK(base::create_file(folder / name, std::string(1000, 'x')));
}

const std::string of_one = "rx-latency-20261129T031207.104Z.kept.rec",
                  of_two = "rx-latency-20261129T031307.104Z.kept.rec",
                  of_three = "rx-latency-20261130T000000.000Z.kept.rec";

}  // namespace

TEST_CASE("the oldest of a recipe's kept recordings go, by number and by size, and the newest stays") {
    const auto folder = base::PrivateDirectory::create().value();
    make(folder.path(), {of_three, of_one, of_two});
    session::remove_oldest_kept(folder.path(), "rx-latency", {1'000'000, 3});
    CHECK(base::names_in(folder.path()).size() == 3);
    session::remove_oldest_kept(folder.path(), "rx-latency", {1'000'000, 2});
    CHECK(base::names_in(folder.path()) == std::vector<std::string>{of_two, of_three});
    session::remove_oldest_kept(folder.path(), "rx-latency", {1'500, 20});
    CHECK(base::names_in(folder.path()) == std::vector<std::string>{of_three});
    session::remove_oldest_kept(folder.path(), "rx-latency", {17, 1});
    CHECK(base::names_in(folder.path()) == std::vector<std::string>{of_three});
}

TEST_CASE("nothing else in the folder is removed, whatever it is called") {
    const auto folder = base::PrivateDirectory::create().value();
    const std::vector<std::string> others{"rx-latency-.kept.rec",
                                          "rx-latency-2026.kept.rec",
                                          "rx-latency-20261129T031207.104Z.kept.rec.1",
                                          "rx-latency-20261129T031207.104Z.rec",
                                          "rx-latency-mine-T1.Z.kept.rec",
                                          "rx.kept.rec",
                                          "tx-latency-20261129T031207.104Z.kept.rec"};
    make(folder.path(), others);
    fs::create_directory(folder.path() / of_one);
    fs::create_symlink("/etc/passwd", folder.path() / of_two);
    make(folder.path(), {of_three});
    session::remove_oldest_kept(folder.path(), "rx-latency", {100'000, 1});
    CHECK(base::names_in(folder.path()).size() == others.size() + 3);
}

TEST_CASE("a folder that is not there is an error before anything is measured") {
    session::MeasurePlan plan;
    plan.keep.emplace().folder = "/nowhere/at/all";
    const auto keeper = session::Keeper::create(*launch::this_machine(), plan, "/etc/passwd");
    REQUIRE_FALSE(keeper);
    CHECK(keeper.error().kind == base::ErrorKind::bad_input);
    CHECK(keeper.error().what == "--keep-in /nowhere/at/all: there is no such folder");
}
