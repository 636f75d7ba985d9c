// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/keeper.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <iostream>
#include <sstream>

#include "base/files.h"
#include "fakes/system/fake_system.h"
#include "recording/reader.h"
#include "session/replay.h"

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
    const auto keeper = session::Keeper::create(*launch::this_machine(), plan, "/etc/passwd", nullptr);
    REQUIRE_FALSE(keeper);
    CHECK(keeper.error().kind == base::ErrorKind::bad_input);
    CHECK(keeper.error().what == "--keep-in /nowhere/at/all: there is no such folder");
}

namespace {

/// A steered measurement of drops. What is said of it on stderr is in `said`.
class Steered {
  public:
    Steered() {
        plan.remote = true;
        plan.output = folder.path() / "whole.rec";
        auto& keep = plan.keep.emplace();
        keep.before = std::chrono::seconds(30);
        keep.after = std::chrono::seconds(0);
        keep.folder = "-";
        keep.conditions.push_back(when::parse_condition("drop rise > 1009").value());
        recorder = session::Recorder::create(machine, plan, "/etc/passwd").value();
        keeper = session::Keeper::create(machine, plan, "/etc/passwd", recorder.get()).value();
        line("stapgen\t5\tdropwatch\tdrop\tlocation:address\treason:int\tcount:count");
        line("ready\t1000000000\t1000000000");
    }
    void line(const std::string& text) {
        const auto parsed = parser_.feed(text);
        recorder->line(text, false, parsed, namer);
        keeper->line(text, false, parsed, namer);
    }
    void interval(std::int64_t drops) {
        all_ += drops;
        line("drop\tff\t3\t" + std::to_string(drops));
        line("tick\t" + std::to_string(++seconds_ * 1'000'000'000) + "\tseen=" + std::to_string(all_) +
             "\treported=" + std::to_string(all_));
    }
    /// The lines of what was kept.
    std::string end() {
        line("end\t9000000000\tseen=" + std::to_string(all_) + "\treported=" + std::to_string(all_));
        keeper->end(namer);
        recorder->end({}, namer);
        std::cerr.rdbuf(stderr_);
        auto reader = recording::Reader::open(*plan.output).value();
        std::string kept;
        for (auto lines = reader.next().value(); !lines.empty(); lines = reader.next().value()) {
            for (const auto each : base::split(lines, '\n')) {
                if (each.starts_with("kept\t")) kept.append(each.substr(5)).append("\n");
            }
        }
        return kept;
    }

    base::PrivateDirectory folder = base::PrivateDirectory::create().value();
    host::FakeSystem machine;
    session::MeasurePlan plan;
    session::Namer namer;
    std::ostringstream said;
    std::unique_ptr<session::Recorder> recorder;
    std::unique_ptr<session::Keeper> keeper;

  private:
    decode::RecordParser parser_;
    std::int64_t seconds_ = 1, all_ = 0;
    std::streambuf* stderr_ = std::cerr.rdbuf(said.rdbuf());
};

recording::Kept facts_kept(std::string_view lines) {
    const auto own = recording::parse_own_line(lines.substr(0, lines.find('\n')));
    REQUIRE(own);
    return recording::parse_header(own->json).value().setup.kept;
}

}  // namespace

TEST_CASE("where it is steered a condition that holds is only said, and what is kept at an order is in the recording") {
    Steered run;
    run.interval(1013);
    CHECK(run.said.str() == "@stapgen held 1 1013\n");
    // It holds on, and again: at most once a second it is said.
    run.interval(1019);
    run.interval(3);
    run.interval(1021);
    CHECK(run.said.str() == "@stapgen held 1 1013\n");
    run.keeper->take({7, 1, ""}, run.namer);
    run.keeper->take({8, 1, "web2"}, run.namer);
    run.interval(5);
    CHECK(run.said.str().starts_with("@stapgen held 1 1013\n@stapgen kept "));
    CHECK(run.said.str().ends_with(" -\n"));
    const auto lines = run.end();
    const auto kept = facts_kept(lines);
    CHECK(kept.condition == "drop rise > 1009 over 1s");
    CHECK(kept.value == "1,021");
    CHECK(kept.moment == 7);
    CHECK(kept.unkept == 1);
    CHECK(lines.find("\ndrop\tff\t3\t1013\n") != std::string::npos);
    CHECK(lines.find("\tseen=3061\treported=3061\n") != std::string::npos);
    CHECK(lines.find("\nrecording-end\t{") != std::string::npos);
    // In the whole it is counted nowhere.
    const auto whole = session::load_foreign(*run.plan.output, {}).value();
    CHECK(whole.front().reports.front().accounting.reported == 3061);
    CHECK(whole.front().reports.front().input.unrecognised == 0);
}

TEST_CASE("an order names the host where it held, and none without a condition of that number is taken") {
    Steered run;
    run.interval(5);
    run.keeper->take({1, 2, "web2"}, run.namer);
    run.keeper->take({2, 1, "web2"}, run.namer);
    const auto lines = run.end();
    const auto kept = facts_kept(lines);
    CHECK(kept.condition == "web2: drop rise > 1009 over 1s");
    CHECK(kept.value.empty());
    CHECK(kept.moment == 2);
    CHECK(kept.before_ns == 30'000'000'000);
    Steered other;
    other.interval(5);
    other.keeper->take({1, 0, ""}, other.namer);
    CHECK(facts_kept(other.end()).condition == "SIGUSR1");
}
