// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/stap_command.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.h"

using namespace stapgen;
using namespace stapgen::launch;

namespace {

host::Target target_with(std::string_view version, std::string release_option = "") {
    host::Target target;
    target.stap_asked = "stap";
    target.stap = "/usr/bin/stap";
    target.staprun = "/usr/bin/staprun";
    target.stap_version = host::parse_version_number(version);
    target.release_option = std::move(release_option);
    return target;
}

CompileOptions script() {
    CompileOptions options;
    options.script = "/s.stp";
    return options;
}

std::string line(const std::vector<std::string>& argv) {
    return base::shell_quoted(argv);
}

}  // namespace

TEST_CASE("the plainest run is the plainest command") {
    CHECK(line(compile_argv(target_with("4.8"), script())) == "/usr/bin/stap -v --color=never -p4 /s.stp");
    CHECK(line(load_argv("/usr/bin/staprun", {.module = "/c/stap_1.ko"})) == "/usr/bin/staprun -R /c/stap_1.ko");
}

TEST_CASE("every option of a compilation has its place, and the user's own come last") {
    auto options = script();
    options.tapsets = {"/t1", "/t2"};
    options.macros = {"MAXMAPENTRIES=10"};
    options.kbuild = {{"CFLAGS_MODULE", "-DMINE"}};
    options.modules = {"kernel", "nf_tables"};
    options.stap_options = {"--poison-cache"};
    options.apply({.kbuild = {{"CFLAGS_MODULE", "-Wno-error"}}, .runtime = "/r", .lines = {}});
    CHECK(line(compile_argv(target_with("5.1", "6.12.1"), options)) ==
          "/usr/bin/stap -v --color=never -p4 -r 6.12.1 -I /t1 -I /t2 -B 'CFLAGS_MODULE=-Wno-error -DMINE' "
          "-R /r "
          "-D MAXMAPENTRIES=10 -d kernel -d nf_tables --poison-cache /s.stp");
}

TEST_CASE("stap is told another architecture by the kernel's name of it") {
    auto target = target_with("5.1", "6.12.1-arm64");
    target.architecture = "aarch64";
    target.is_foreign = true;
    CHECK(line(compile_argv(target, script())) == "/usr/bin/stap -v --color=never -p4 -r 6.12.1-arm64 -a arm64 /s.stp");
    target.cross_compile = "aarch64-linux-gnu-";
    CHECK(line(compile_argv(target, script())) ==
          "/usr/bin/stap -v --color=never -p4 -r 6.12.1-arm64 -a arm64 -B CROSS_COMPILE=aarch64-linux-gnu- /s.stp");
}

TEST_CASE("a macro that the user defines takes the recipe's place, for a second one would be an error") {
    auto options = script();
    options.macros = {"MAXACTION=100000", "MAXACTIONS=7", "INTERRUPTIBLE"};
    options.stap_options = {"-DMAXACTION=200000", "-D", "INTERRUPTIBLE=1"};
    CHECK(line(compile_argv(target_with("5.1"), options)) ==
          "/usr/bin/stap -v --color=never -p4 -D MAXACTIONS=7 -DMAXACTION=200000 -D INTERRUPTIBLE=1 /s.stp");
}

TEST_CASE("a stap that does not know --color is not given it") {
    CHECK(line(compile_argv(target_with("2.5"), script())) == "/usr/bin/stap -v -p4 /s.stp");
    CHECK(line(compile_argv(target_with("2.6"), script())) == "/usr/bin/stap -v --color=never -p4 /s.stp");
}

TEST_CASE("all modules: one option since 1.4, before that one for each that is loaded") {
    auto options = script();
    options.all_modules = true;
    options.loaded_modules = {"nf_tables", "virtio_net"};
    CHECK(line(compile_argv(target_with("1.4"), options)) == "/usr/bin/stap -v -p4 --all-modules /s.stp");
    CHECK(line(compile_argv(target_with("1.3"), options)) ==
          "/usr/bin/stap -v -p4 -d kernel -d nf_tables -d virtio_net /s.stp");
}

TEST_CASE("a load names the thread, the buffers and the values of globals") {
    LoadOptions options{.module = "/c/m.ko", .target_id = 42, .buffer_mb = 64, .globals = {{"port", "11211"}}};
    CHECK(line(load_argv("", options)) == "staprun -R -x 42 -b 64 /c/m.ko port=11211");
    options.is_signed = true;
    CHECK(line(load_argv("", options)) == "staprun -x 42 -b 64 /c/m.ko port=11211");
    CHECK(line(unload_argv("", "stap_1_2")) == "staprun -d stap_1_2");
}

TEST_CASE("what probes cost is asked for, and its report where stdout is no terminal") {
    auto options = script();
    options.timing = true;
    CHECK(line(compile_argv(target_with("5.1"), options)) ==
          "/usr/bin/stap -v --color=never -p4 -t -D STP_FORCE_STDOUT_TTY /s.stp");
}

TEST_CASE("a module for elsewhere says what it was made of, as far as its stap can") {
    auto options = script();
    options.recipe_hash = "0123456789abcdef";
    CHECK(line(compile_argv(target_with("1.7"), options)) ==
          "/usr/bin/stap -v -p4 --modinfo stapgen_recipe=0123456789abcdef /s.stp");
    CHECK(line(compile_argv(target_with("1.6"), options)) == "/usr/bin/stap -v -p4 /s.stp");
}

TEST_CASE("guru mode is given where it was agreed to, and seen in any word that asks stap for it") {
    auto options = script();
    options.guru = true;
    CHECK(line(compile_argv(target_with("4.8"), options)) == "/usr/bin/stap -v --color=never -p4 -g /s.stp");
    for (const auto* asking : {"-g", "-vg", "-gv", "-tkg"}) {
        CAPTURE(asking);
        CHECK(asks_for_guru(asking));
    }
    for (const auto* other : {"-DMAXACTION=g", "-v", "--vp=01g", "-vDg", "g", "--poison-cache", "-", ""}) {
        CAPTURE(other);
        CHECK_FALSE(asks_for_guru(other));
    }
}
