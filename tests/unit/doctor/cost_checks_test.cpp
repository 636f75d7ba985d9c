// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "machine.h"

using namespace stapgen;
using namespace stapgen::doctor_test;
using doctor::State;

TEST_CASE("a kernel that recipes were run on, only resolved on, lose something on, or were never tried on") {
    auto system = debian_13();
    CHECK(check(system, "kernel").found == "6.12.117+deb13-amd64: tested with known traffic on this version");
    auto asked = question(system);
    asked.subjects[0].kernels = {{"6.12", "resolved", "", {"6.12"}}};
    CHECK(check(doctor::examine(system, asked), "kernel").state == State::note);
    asked.subjects[0].kernels = {{"6.12", "run", "half of it", {"6.12"}}};
    CHECK(check(doctor::examine(system, asked), "kernel").found.ends_with("rx-latency: half of it"));
    asked.subjects[0].kernels = {{"6.1", "run", "", {"6.1"}}};
    CHECK(check(doctor::examine(system, asked), "kernel").found.find("was not tried") != std::string::npos);
}

TEST_CASE("buffers for each CPU are held against the memory that SystemTap counts as free") {
    auto system = debian_13();
    CHECK(check(system, "memory").found == "16 MB of buffers per CPU (2), 1475 MB are free");
    CHECK(check(system, "memory").state == State::ok);
    system.files["/sys/devices/system/cpu/online"] = "0-22,24\n";
    CHECK(check(system, "memory").state == State::note);  // 24 * 16 is 384, a quarter of 1475 is 368
    system.files["/sys/devices/system/cpu/online"] = "0-22\n";
    CHECK(check(system, "memory").state == State::ok);
    system.files["/sys/devices/system/cpu/online"] = "5-2,x,18446744073709551615,-\n";
    CHECK(check(system, "memory").found.find("per CPU (1)") != std::string::npos);
    system.files["/proc/meminfo"] = "MemFree:\n";
    CHECK(check(system, "memory").state == State::note);
    system.files.erase("/proc/meminfo");
    CHECK(check(system, "memory").state == State::ok);
}

TEST_CASE("a disk with little room is reported") {
    auto system = debian_13();
    CHECK(check(system, "disk").state == State::ok);
    system.space = 299'999'999;
    CHECK(check(system, "disk").state == State::note);
    system.space.reset();
    CHECK(check(system, "disk").found == "not known");
}

TEST_CASE("the first run on a kernel takes longer, until stap's answers are in the cache") {
    auto system = debian_13();
    CHECK(check(system, "first-run").state == State::note);
    CHECK(check(system, "first-run").found.find("half a minute") != std::string::npos);
    CHECK(remedy(check(system, "first-run")).find("stapgen doctor --warm") != std::string::npos);
    auto others = system;
    others.root = false;
    others.files["/proc/sys/user/max_user_namespaces"] = "0\n";
    CHECK(check(others, "first-run").found.find("minutes longer") != std::string::npos);
    const std::string name = "/root/.cache/stapgen/systemtap/cache/b1/tracequery_b109f817bec889dfd2c2a99ccff8d0e9_903";
    system.files[name + ".o"] = "";
    system.files[name + "_hash.log"] =
        "[Sat Nov 21 19:35:53 2026] tracequery_hash:\nSystemtap version: 5.1/0.192, Debian version 5.1-5\n"
        "Kernel Release: 6.12.117+deb13-amd64\nKernel Build Tree Path: /lib/modules/6.12.117+deb13-amd64/build\n";
    CHECK(check(system, "first-run").state == State::ok);
    CHECK(check(system, "first-run", {.release = "6.1.0-56-amd64"}).state == State::note);
    system.files.erase(name + ".o");
    CHECK(check(system, "first-run").state == State::note);
    system.files[name + ".o"] = "";
    system.output[{"/usr/bin/stap", "--version"}] = "(version 5.6/0.196, Debian version 5.6-1)\n";
    CHECK(check(system, "first-run").state == State::note);
}

TEST_CASE("what stapgen's own virtual machines need is a note that no run depends on") {
    auto system = debian_13();
    auto found = doctor::lab(system);
    CHECK(found.state == State::note);
    CHECK(remedy(found) == "apt-get install debootstrap qemu-system-x86 e2fsprogs python3");
    for (const auto* program : {"qemu-system-x86_64", "debootstrap", "mke2fs", "python3"})
        system.programs[program] = program;
    CHECK(doctor::lab(system).state == State::ok);
}
