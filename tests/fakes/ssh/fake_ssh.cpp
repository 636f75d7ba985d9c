// SPDX-License-Identifier: GPL-2.0-or-later
// Stands in for ssh and the host behind it: what check_hostile.py measures on a thousand of. A host's name says how it
// behaves, "KIND-NUMBER"; one that is "good" measures what follows from its number. Real ssh is in check_run.py.
//
// What a host sends that is made beforehand lies beside this program: KIND.rec. "calls" beside it has a line for each
// build and run.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;

const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();

struct Host {
    std::string name, kind;
    long number = 0;
};

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

void put(int to, std::string_view text) {
    while (!text.empty()) {
        const auto count = ::write(to, text.data(), text.size());
        if (count <= 0) std::exit(0);
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

[[noreturn]] void endless(int to, bool in_lines = true) {
    const std::string line(1 << 16, 'x');
    for (;;)
        put(to, in_lines ? line + '\n' : line);
}

/// A host that only hangs: whatever it is asked, and however it is asked to end.
[[noreturn]] void hang() {
    for (;;)
        ::pause();
}

void note(const Host& host, std::string_view verb) {
    const auto line = host.name + " " + std::string(verb) + "\n";
    const int file = ::open((folder / "calls").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    put(file, line);
    ::close(file);
}

void drain_stdin() {
    char bytes[1 << 16];
    while (::read(0, bytes, sizeof bytes) > 0) {
    }
}

/// Waits for an order to keep, and half a second for further ones: a line for each into the file "orders".
void note_orders(const Host& host) {
    std::string lines;
    char bytes[512];
    pollfd poll{0, POLLIN, 0};
    while (lines.empty() || ::poll(&poll, 1, 500) > 0) {
        const auto count = ::read(0, bytes, sizeof bytes);
        if (count <= 0) break;
        lines.append(bytes, static_cast<std::size_t>(count));
    }
    const int file = ::open((folder / "orders").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    put(file, host.name + " " + lines);
    ::close(file);
}

std::string file_of(const std::string& name) {
    std::ifstream file(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

int ask(const Host& host) {
    if (host.kind == "silent") hang();
    if (host.kind == "endless") endless(1);
    if (host.kind == "scolds") endless(2);
    if (host.kind == "mutters") endless(2, false);
    if (host.kind == "slow") {
        // A byte now and then: never silent, and never done.
        for (;; ::usleep(50'000))
            put(1, "x");
    }
    std::string release = "6.1.0-fleet", notes;
    if (host.kind == "liar") release = file_of("release");
    if (host.kind == "escapes") release = "6.1\x1b[2J\xc2\x9b";
    // Alone with its kernel, so that nobody tries it before the others.
    if (host.kind == "unready") release = "6.1.0-alone";
    // Alone of its kernel, so that it compiles for itself.
    if (host.kind == "stuck" || host.kind == "huge") release = "6.1.0-" + host.name;
    // The same release, and a build-id (elf.h, NT_GNU_BUILD_ID), which the others do not tell.
    if (host.kind == "rebuilt") notes = "040000000400000003000000474e55000badcafe";
    put(1, "folder=/root/.cache/stapgen/fleet\nname=" + host.name + "\nrelease=" + release + "\nnotes=" + notes +
               "\nmachine=x86_64\ndisabled=0\nboot=11111111-2222-3333-4444-555555555555\n"
               "stapgen=/usr/bin/stapgen\nstap=/usr/bin/stap\nstaprun=/usr/bin/staprun\n");
    return 0;
}

/// Some packets, more or fewer by the host, whose times follow from its number.
std::string recording_of(const Host& host) {
    if (host.kind != "good") return file_of(host.kind + ".rec");
    std::string text =
        "stapgen\t3\trx-latency\trx\ttime:time\tpid:int\ttid:int\tcomm:text\tip-tcp:stage\ttcp-app:stage\n";
    const long packets = 3 + host.number % 13;
    for (long i = 0; i < packets; ++i) {
        text += "rx\t" + std::to_string(1000 + i) + "\t1\t2\tmc\t" + std::to_string(101 + host.number) + "\t" +
                std::to_string(10007 + 3 * host.number) + "\n";
    }
    const auto count = std::to_string(packets);
    return text + "end\t2000\tseen=" + count + "\treported=" + count + "\n";
}

int measure(const Host& host) {
    note(host, "exec");
    if (host.kind == "unready") hang();
    put(2, "@stapgen ready\n");
    char byte = 0;
    while (byte != '\n') {
        if (::read(0, &byte, 1) != 1) return 1;
    }
    put(2, "@stapgen 5 0\n");
    if (host.kind == "floods") endless(1);
    if (host.kind == "noisy") endless(2);
    if (host.kind == "drones") endless(2, false);
    if (host.kind == "status") {
        // Lines that are right in form, without an end.
        for (;;)
            put(2, "@stapgen 1 0 " + std::string(60'000, 's') + " 5\n");
    }
    if (host.kind == "shouts") {
        for (int i = 0; i < 10'007; ++i)
            put(2, "@stapgen held 1 7\n");
        put(2, "@stapgen held 2 7\n@stapgen held 99999999999999999999 7\n@stapgen held 1 \x1b[2J\n");
        for (int i = 0; i < 1009; ++i)
            put(2, "@stapgen kept 1 -\n");
    }
    if (host.kind == "keeps") note_orders(host);
    if (host.kind == "complains") {
        put(2, "stapgen: " + std::string(1 << 19, 'w') + "\x1b[31m\xc2\x9b\n");
        return 1;
    }
    const auto recording = recording_of(host);
    if (host.kind == "breaks") {
        put(1, std::string_view(recording).substr(0, recording.size() / 2));
        return 255;
    }
    if (host.kind == "stays") {
        put(1, recording);
        hang();
    }
    if (host.kind == "waits") {
        drain_stdin();
        put(1, recording);
        return 0;
    }
    put(1, recording);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Host host;
    host.name = argv[argc - 2];
    const auto dash = host.name.find('-');
    host.kind = host.name.substr(0, dash);
    host.number = dash == std::string::npos ? 0 : std::atol(host.name.c_str() + dash + 1);
    const std::string_view script = argv[argc - 1];
    if (has(script, "modules_disabled")) return ask(host);
    if (has(script, "--remote")) return measure(host);
    if (has(script, "mktemp")) {
        note(host, "build");
        if (host.kind == "stuck") hang();
        put(1, host.kind == "huge" ? std::string(15 << 20, 'x') : "a module");
        return 0;
    }
    drain_stdin();
    return 0;
}
