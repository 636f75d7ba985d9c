// SPDX-License-Identifier: GPL-2.0-or-later
// A stap, or staprun, that does as $FAKE_STAP says: misbehave in one particular way.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

volatile sig_atomic_t asked = 0;

void note(int) {
    asked = asked + 1;
}

void say(std::string_view line) {
    std::cout << line << std::endl;
}

[[noreturn]] void wait_forever() {
    for (;;)
        ::pause();
}

int until_asked() {
    ::signal(SIGINT, note);
    say("ready");
    while (asked == 0) {
        say("record");
        ::usleep(5000);
    }
    say("end");
    return 0;
}

/// Prints the lines of $FAKE_STAP_LINES: half of them at once, the others when there is a file $FAKE_STAP_GO, and the
/// last one when it is asked to end.
int replay() {
    ::signal(SIGINT, note);
    std::vector<std::string> lines;
    std::ifstream file(std::getenv("FAKE_STAP_LINES"));
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    const char* go = std::getenv("FAKE_STAP_GO");
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        while (i == lines.size() / 2 && asked == 0 && ::access(go, F_OK) != 0)
            ::usleep(5000);
        if (asked != 0) break;
        say(lines[i]);
    }
    while (asked == 0)
        ::usleep(5000);
    say(lines.back());
    return 0;
}

int flood() {
    const std::string filler(100, 'x');
    for (int i = 0; i < 100000; ++i) {
        std::cout << "out " << i << ' ' << filler << '\n';
        std::cerr << "err " << i << ' ' << filler << '\n';
    }
    return 0;
}

int with_grandchild() {
    if (::fork() == 0) {
        ::usleep(3000000);
        ::_exit(0);
    }
    say("parent");
    return 3;
}

/// As a stap that is killed while a compiler runs.
[[noreturn]] void die_with_grandchild() {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) wait_forever();
    say(std::to_string(grandchild));
    ::kill(::getpid(), SIGKILL);
    wait_forever();
}

int show_descriptors() {
    for (int fd = 3; fd < 1024; ++fd) {
        if (::fcntl(fd, F_GETFD) != -1) say("open " + std::to_string(fd));
    }
    return 0;
}

int show_environment(char** environment) {
    for (; *environment != nullptr; ++environment)
        say(*environment);
    return 0;
}

int fail_with(const char* file) {
    std::cerr << std::ifstream(file).rdbuf();
    return 1;
}

/// As stap does it without a cache: the module is in the working folder, where there is room.
int compile_well(bool has_room) {
    std::cerr << "Pass 1: parsed user script and 480 library scripts using 1virt/1res/1shr/1data kb, in "
                 "140usr/20sys/163real ms.\n"
                 "Pass 2: analyzed script: 1 probe, 0 functions, 0 embeds, 0 globals using 1virt/1res/1shr/1data "
                 "kb, in 0usr/0sys/9real ms.\n"
                 "Pass 3: translated to C into \"/tmp/x.c\" using 1virt/1res/1shr/1data kb, in "
                 "0usr/0sys/1real ms.\n"
                 "Pass 4: compiled C into \"stap_1.ko\" in 2500usr/0sys/2600real ms.\n";
    if (has_room) std::ofstream("stap_1.ko") << "module";
    say("stap_1.ko");
    return 0;
}

}  // namespace

int main(int argc, char** argv, char** environment) {
    const char* mode_text = std::getenv("FAKE_STAP");
    const std::string_view mode = mode_text == nullptr ? "" : mode_text;
    if (argc == 2 && std::string_view(argv[1]) == "--version") {
        std::cerr << "Systemtap translator/driver (version 4.8/0.188, Debian version 4.8-2)\n";
        return 0;
    }
    if (argc == 3 && std::string_view(argv[1]) == "-d") return 0;
    if (mode == "until-asked") return until_asked();
    if (mode == "replay") return replay();
    if (mode == "flood") return flood();
    if (mode == "grandchild") return with_grandchild();
    if (mode == "die-with-grandchild") die_with_grandchild();
    if (mode == "descriptors") return show_descriptors();
    if (mode == "environment") return show_environment(environment);
    if (mode == "fail") return fail_with(std::getenv("FAKE_STAP_STDERR"));
    if (mode == "compile") return compile_well(true);
    if (mode == "compile-full") {
        fail_with(std::getenv("FAKE_STAP_STDERR"));
        return compile_well(false);
    }
    if (mode == "record-then-fail") {
        say("record");
        return fail_with(std::getenv("FAKE_STAP_STDERR"));
    }
    if (mode == "wait") {
        say("ready");
        wait_forever();
    }
    if (mode == "deaf" || mode == "stone-deaf") {
        ::signal(SIGINT, SIG_IGN);
        if (mode == "stone-deaf") ::signal(SIGTERM, SIG_IGN);
        say("ready");
        wait_forever();
    }
    if (mode == "die") {
        say("last words");
        ::signal(SIGSEGV, SIG_DFL);
        ::kill(::getpid(), SIGSEGV);
    }
    if (mode == "close-stdout") {
        say("only line");
        ::close(STDOUT_FILENO);
        std::cerr << "still here\n";
        return 0;
    }
    if (mode == "long-line") {
        std::cout << std::string(3 * 1024 * 1024, 'a') << "\nshort\nno line end" << std::flush;
        return 0;
    }
    if (mode == "argv") {
        for (int i = 0; i < argc; ++i)
            say(argv[i]);
        return 0;
    }
    if (mode == "cat") {
        std::cout << std::ifstream(argv[1]).rdbuf();
        return 0;
    }
    std::cerr << "fake_stap: FAKE_STAP says nothing it knows\n";
    return 99;
}
