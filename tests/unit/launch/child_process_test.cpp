// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/child_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/files.h"
#include "base/text.h"
#include "host/threads.h"

using namespace stapgen;
using namespace stapgen::launch;

namespace {

struct Seen {
    Ending ending;
    std::vector<std::string> output, error;
    std::size_t cut = 0, output_bytes = 0;
};

Command fake(const std::string& mode) {
    return {{FAKE_STAP}, {{"FAKE_STAP", mode}}, {}, {}};
}

Seen run(const Command& command, Handlers handlers = {}) {
    Seen seen;
    const auto inner = handlers.output;
    handlers.output = [&](Line line, Control& control) {
        seen.output.emplace_back(line.text.substr(0, 200));
        seen.output_bytes += line.text.size();
        seen.cut += line.cut ? 1 : 0;
        if (inner) inner(line, control);
    };
    handlers.error = [&](Line line, Control&) { seen.error.emplace_back(line.text.substr(0, 200)); };
    const auto ending = run_child(command, handlers);
    REQUIRE_MESSAGE(ending, ending.error().what);
    seen.ending = *ending;
    return seen;
}

Handlers impatient() {
    Handlers handlers;
    handlers.tick_period = std::chrono::milliseconds(20);
    handlers.stop_timeout = std::chrono::milliseconds(100);
    handlers.kill_after = std::chrono::milliseconds(100);
    handlers.drain = std::chrono::milliseconds(100);
    return handlers;
}

// As a user does who presses Ctrl-C twice, once the child has said that it ignores that.
Handlers interrupted() {
    auto handlers = impatient();
    handlers.stop_timeout = std::chrono::hours(1);
    handlers.output = [](Line, Control&) { ::kill(::getpid(), SIGINT); };
    handlers.tick = [left = 1](Control& control) mutable {
        if (control.ending() && left-- > 0) ::kill(::getpid(), SIGINT);
    };
    return handlers;
}

}  // namespace

TEST_CASE("both pipes may be flooded, and every line arrives once and in order") {
    const auto seen = run(fake("flood"));
    CHECK(seen.ending.clean());
    REQUIRE(seen.output.size() == 100000);
    REQUIRE(seen.error.size() == 100000);
    CHECK(seen.output.back().starts_with("out 99999 "));
    CHECK(seen.error[12345].starts_with("err 12345 "));
}

TEST_CASE("an exit code and a deadly signal are told apart") {
    const auto died = run(fake("die"));
    CHECK(died.ending.signal == SIGSEGV);
    CHECK(died.output == std::vector<std::string>{"last words"});
    const auto failed = run(fake("nonsense"));
    CHECK(failed.ending.signal == 0);
    CHECK(failed.ending.exit_code == 99);
}

TEST_CASE("a child that closes stdout early is waited for") {
    const auto seen = run(fake("close-stdout"));
    CHECK(seen.ending.clean());
    CHECK(seen.output == std::vector<std::string>{"only line"});
    CHECK(seen.error == std::vector<std::string>{"still here"});
}

TEST_CASE("a grandchild that keeps the pipes open does not hold us up") {
    const auto seen = run(fake("grandchild"), impatient());
    CHECK(seen.ending.exit_code == 3);
    CHECK(seen.output == std::vector<std::string>{"parent"});
}

TEST_CASE("what a killed child has started is killed with it") {
    const auto seen = run(fake("die-with-grandchild"), impatient());
    CHECK(seen.ending.signal == SIGKILL);
    REQUIRE(seen.output.size() == 1);
    const auto grandchild = base::to_int(seen.output[0]).value();
    const auto machine = host::real_system();
    const auto& system = *machine;
    const auto gone = [&] {
        const auto left = host::Task::find(system, grandchild, true);
        return !left || left->has_ended(system);
    };
    for (int i = 0; i < 1000 && !gone(); ++i)
        ::usleep(10000);
    CHECK(gone());
}

TEST_CASE("a line without end is cut, flagged, and does not spoil the next one") {
    const auto seen = run(fake("long-line"));
    REQUIRE(seen.output.size() == 3);
    CHECK(seen.cut == 2);
    CHECK(seen.output_bytes == 1024 * 1024 + 5 + 11);
    CHECK(seen.output[1] == "short");
    CHECK(seen.output[2] == "no line end");
}

TEST_CASE("a stop asked for by a callback ends the child in order, and its last words arrive") {
    Handlers handlers;
    handlers.output = [](Line line, Control& control) {
        CHECK(control.pid() > 0);
        if (line.text == "record") control.request_stop();
    };
    const auto seen = run(fake("until-asked"), handlers);
    CHECK(seen.ending.clean());
    CHECK(seen.ending.was_stopped);
    CHECK_FALSE(seen.ending.interrupted);
    CHECK(seen.output.back() == "end");
}

TEST_CASE("our first SIGINT is passed on once, and is not taken for a stop of our own") {
    Handlers handlers;
    handlers.output = [](Line line, Control&) {
        if (line.text == "ready") ::kill(::getpid(), SIGINT);
    };
    const auto seen = run(fake("until-asked"), handlers);
    CHECK(seen.ending.clean());
    CHECK(seen.ending.interrupted);
    CHECK_FALSE(seen.ending.was_stopped);
    CHECK(seen.output.back() == "end");
}

TEST_CASE("SIGTERM and SIGHUP end the child like Ctrl-C") {
    for (const int number : {SIGTERM, SIGHUP}) {
        Handlers handlers;
        handlers.output = [number](Line line, Control&) {
            if (line.text == "ready") ::kill(::getpid(), number);
        };
        const auto seen = run(fake("until-asked"), handlers);
        CHECK(seen.ending.clean());
        CHECK(seen.ending.interrupted);
    }
}

TEST_CASE("a second SIGINT gives up on a child that ignores the first") {
    auto handlers = interrupted();
    handlers.kill_after = std::chrono::hours(1);
    const auto seen = run(fake("deaf"), handlers);
    CHECK(seen.ending.gave_up);
    CHECK(seen.ending.interrupted);
    CHECK(seen.ending.signal == SIGTERM);
}

TEST_CASE("a child that ignores SIGTERM too is killed") {
    const auto seen = run(fake("stone-deaf"), interrupted());
    CHECK(seen.ending.gave_up);
    CHECK(seen.ending.signal == SIGKILL);
}

TEST_CASE("a child that does not stop when asked and stays silent is given up without the user's help") {
    auto handlers = impatient();
    handlers.output = [](Line, Control& control) { control.request_stop(); };
    const auto seen = run(fake("deaf"), handlers);
    CHECK(seen.ending.gave_up);
    CHECK(seen.ending.was_stopped);
    CHECK_FALSE(seen.ending.interrupted);
}

TEST_CASE("a child that is to end within a time is given up when that is over, however often it is said") {
    auto handlers = impatient();
    handlers.stop_timeout = std::chrono::hours(1);
    const auto time = 3 * handlers.tick_period;
    handlers.output = [&](Line, Control& control) { control.stop_within(time); };
    handlers.tick = [&, ticks = 0](Control& control) mutable {
        if (!control.ending()) return;
        control.stop_within(time);
        // Three ticks take as long.
        if (++ticks == 31) ::kill(control.pid(), SIGKILL);
    };
    const auto seen = run(fake("deaf"), handlers);
    CHECK(seen.ending.gave_up);
}

TEST_CASE("a handler that throws ends the run in order and the exception arrives") {
    Handlers handlers;
    handlers.output = [](Line, Control&) { throw std::runtime_error("a defect"); };
    CHECK_THROWS_WITH(static_cast<void>(run_child(fake("until-asked"), handlers)), "a defect");
}

TEST_CASE("a child inherits no descriptor of ours") {
    const int ours = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
    const auto seen = run(fake("descriptors"));
    ::close(ours);
    CHECK(seen.output.empty());
}

TEST_CASE("the environment is made, not inherited") {
    ::setenv("LD_PRELOAD_NOT_REALLY", "x", 1);
    ::setenv("SYSTEMTAP_TAPSET", "/evil", 1);
    auto command = fake("environment");
    command.environment["EXTRA"] = "1";
    command.environment["HOME"] = "";
    std::string all;
    for (const auto& line : run(command).output)
        all += line + "\n";
    CHECK(all.find("LD_PRELOAD") == std::string::npos);
    CHECK(all.find("SYSTEMTAP_TAPSET") == std::string::npos);
    CHECK(all.find("HOME=") == std::string::npos);
    CHECK(all.find("LC_ALL=C\n") != std::string::npos);
    CHECK(all.find("EXTRA=1\n") != std::string::npos);
    CHECK(all.find("SYSTEMTAP_DIR=") != std::string::npos);
    CHECK(all.find("PATH=/") != std::string::npos);
    ::unsetenv("SYSTEMTAP_TAPSET");
}

TEST_CASE("a program that is not there, or is none, is an error with a remedy and no zombie") {
    const auto missing = run_child({{"no-such-program-here"}, {}, {}, {}}, {});
    REQUIRE_FALSE(missing);
    CHECK(missing.error().kind == base::ErrorKind::cannot_here);
    CHECK_FALSE(missing.error().hint.empty());

    const auto folder = base::PrivateDirectory::create();
    const auto file = folder->path() / "broken";
    REQUIRE(base::create_file(file,
                              "\x7f"
                              "ELF but not really"));
    ::chmod(file.c_str(), 0700);
    const auto broken = run_child({{file.string()}, {}, {}, {}}, {});
    REQUIRE_FALSE(broken);
    CHECK(broken.error().what.find("Exec format error") != std::string::npos);
}

TEST_CASE("a folder that is not there is an error") {
    auto command = fake("argv");
    command.working_directory = "/no/such/folder";
    const auto result = run_child(command, {});
    REQUIRE_FALSE(result);
    CHECK(result.error().what.find("/no/such/folder") != std::string::npos);
}

TEST_CASE("the output of a short command is had as one text, and its failure as an error") {
    auto command = fake("");
    command.argv.push_back("--version");
    const auto version = output_of(command);
    REQUIRE(version);
    CHECK(version->find("(version 4.8/0.188") != std::string::npos);
    CHECK_FALSE(output_of(fake("nonsense")));
    const auto endless = output_of(fake("wait"), std::chrono::milliseconds(1));
    REQUIRE_FALSE(endless);
    CHECK(endless.error().what.find("did not end in time") != std::string::npos);
}

TEST_CASE("a child that takes input reads all that is written, and its end is how it is asked to end") {
    const std::string text(1'000'003, 'x');
    std::string seen;
    Command command{{"/bin/cat"}};
    command.takes_input = true;
    Handlers handlers;
    handlers.started = [&](Control& control) {
        control.write(text);
        control.write("end\n");
        control.request_stop();
    };
    handlers.bytes = [&](std::string_view bytes, Control&) { seen += bytes; };
    const auto ending = run_child(command, handlers);
    REQUIRE(ending);
    CHECK(ending->clean());
    CHECK(seen == text + "end\n");
}

TEST_CASE("threads that heed no signals run children at once, and none holds another's input open") {
    std::atomic<int> clean = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 7; ++i) {
        threads.emplace_back([&] {
            Command command{{"/bin/cat"}};
            command.takes_input = true;
            Handlers handlers;
            handlers.handles_signals = false;
            handlers.started = [](Control& control) { control.request_stop(); };
            const auto ending = run_child(command, handlers);
            if (ending && ending->clean()) ++clean;
        });
    }
    for (auto& thread : threads)
        thread.join();
    CHECK(clean == 7);
}
