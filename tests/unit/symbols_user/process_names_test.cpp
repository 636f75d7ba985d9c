// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/process_names.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "symbols/user/machine_code.h"
#include "symbols/user/perf_map.h"
#include "symbols/user/system_calls.h"

// As a program has them: of C, so that their names are these.
extern "C" {
__attribute__((noipa)) int stapgen_test_function(int number) {
    return number + 1;
}
long stapgen_test_lock[5];
long stapgen_test_initialized_lock[5] = {1};
}

namespace stapgen::symbols::user {

namespace {

std::uint64_t address_of(const void* p) {
    return reinterpret_cast<std::uint64_t>(p);
}
const std::string program = "unit_symbols_user";

}  // namespace

TEST_CASE("addresses of a process have names: functions, variables, heap and stack") {
    const auto pid = static_cast<std::int64_t>(::getpid());
    ProcessNames names("/proc");
    CHECK(names.name_of(pid, address_of(reinterpret_cast<const void*>(&stapgen_test_function))) ==
          "stapgen_test_function in " + program);
    CHECK(names.name_of(pid, address_of(&stapgen_test_lock[2])) == "stapgen_test_lock in " + program);
    CHECK(names.name_of(pid, address_of(&stapgen_test_initialized_lock)) ==
          "stapgen_test_initialized_lock in " + program);
    int local = 0;
    CHECK(names.name_of(pid, address_of(&local)) == "stack of " + program);
    void* const mapped = ::mmap(nullptr, 1U << 20U, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(names.name_of(pid, address_of(mapped)) == "memory of " + program);
    ::munmap(mapped, 1U << 20U);
    CHECK(names.name_of(pid, 16).empty());
    CHECK(names.name_of(-1, 16).empty());
    // Of a library without this one's symbols.
    const auto found = names.name_of(pid, address_of(reinterpret_cast<const void*>(&::getppid)));
    CHECK_MESSAGE(found.find("getppid in libc") != std::string::npos, found);
    const auto all = names.all();
    REQUIRE(all.size() >= 5);
    CHECK(std::ranges::all_of(all, [&](const auto& met) { return met.tid == pid; }));
}

TEST_CASE("code that a program compiled has the names of its map in /tmp, which it owns") {
    const auto pid = static_cast<std::int64_t>(::getpid());
    void* const code = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(code != MAP_FAILED);
    const auto file = fmt::format("/tmp/perf-{}.map", pid);
    REQUIRE(base::create_file(file, fmt::format("{:x} 20 LazyCompile:*encode\n", address_of(code))));
    ProcessNames names("/proc");
    names.observe(pid, address_of(code) + 16);
    names.observe(pid, address_of(code) + 64);
    const auto found = names.find(pid, address_of(code) + 16), other = names.find(pid, address_of(code) + 64);
    ::munmap(code, 4096);
    std::filesystem::remove(file);
    REQUIRE((found && other));
    CHECK(found->symbol == "LazyCompile:*encode");
    CHECK(found->file == "jit");
    CHECK(other->symbol.empty());
}

TEST_CASE("what calls is known from what does not: the address behind a call") {
    const auto is_call = [](std::string_view end) {
        return ends_with_call(std::string(longest_call - end.size(), '\x90') + std::string(end));
    };
#if defined(__x86_64__)
    CHECK(is_call({"\xe8\x01\x02\x03\x04", 5}));          // call rel32
    CHECK(is_call({"\xff\xd0", 2}));                      // call *%rax
    CHECK(is_call({"\xff\x53\x10", 3}));                  // call *0x10(%rbx)
    CHECK(is_call({"\xff\x94\x24\x01\x02\x03\x04", 7}));  // call *0x4030201(%rsp)
    CHECK(is_call({"\xff\x15\x01\x02\x03\x04", 6}));      // call *0x4030201(%rip)
    CHECK(!is_call({"\xff\xe0", 2}));                     // jmp *%rax
    CHECK(!is_call({"\x48\x89\xe5\x5d\xc3", 5}));
#endif
    CHECK(!ends_with_call(""));
    CHECK(!is_call(""));
}

TEST_CASE("functions that a program compiled have the names that it says last") {
    const PerfMap map(
        "7f00 40 LazyCompile:~encode app.js:1\nrubbish\n7f40 0 empty\n7f00 40 LazyCompile:*encode app.js:1\n"
        "7f20 8 inner\nffffffffffffffff ff far\n 1 2 3\n7f60 10");
    CHECK(map.find(0x7f00) == "LazyCompile:*encode app.js:1");
    CHECK(map.find(0x7f21) == "inner");
    CHECK(map.find(0x7f3f) == "LazyCompile:*encode app.js:1");
    CHECK(map.find(0x7f40) == std::nullopt);
    CHECK(map.find(0x7f60) == std::nullopt);
    CHECK(PerfMap().find(1) == std::nullopt);
}

TEST_CASE("the mappings of a process: those that are none are passed over") {
    const auto all = parse_maps(
        "00400000-00401000 r-xp 00001000 fe:01 4711   /usr/bin/my app (deleted)\n"
        "00401000-00402000 rw-p 00002000 fe:01 4711   /usr/bin/my app (deleted)\n"
        "00402000-00403000 rw-p 00000000 00:00 0 \n"
        "00403800-00403000 rw-p 00000000 00:00 0 \n"
        "00402800-00404000 rw-p 00000000 00:00 0 \n"
        "nonsense\n\n"
        "01000000-01021000 rw-p 00000000 00:00 0                          [heap]\n"
        "7f0000000000-7f0000001000 rw-p 00000000 00:00 0\n",
        100);
    REQUIRE(all.size() == 5);
    CHECK(all[0].name() == "my app");
    CHECK(all[0].executable);
    CHECK(find(all, 0x400fff) == &all[0]);
    CHECK(find(all, 0x403000) == nullptr);
    CHECK(find(all, 0) == nullptr);
    CHECK(file_of(all, 0x402010) == &all[1]);
    CHECK(file_of(all, 0x1000010) == nullptr);
    CHECK(file_of(all, 0x7f0000000010) == nullptr);
    CHECK(parse_maps("00400000-00401000 r-xp 0 fe:01 1 /a\n00401000-00402000 r-xp 0 fe:01 1 /a\n", 1).size() == 1);
}

TEST_CASE("system calls have names by architecture") {
    CHECK(name_of_system_call("x86_64", 0) == "read");
    CHECK(name_of_system_call("x86_64", 334) == "rseq");
    CHECK(name_of_system_call("x86_64", 400).empty());
    CHECK(name_of_system_call("x86_64", 425) == "io_uring_setup");
    CHECK(name_of_system_call("aarch64", 63) == "read");
    CHECK(name_of_system_call("aarch64", 80) == "fstat");
    CHECK(name_of_system_call("aarch64", 426) == "io_uring_enter");
    CHECK(name_of_system_call("riscv64", 63).empty());
    CHECK(name_of_system_call("x86_64", -1).empty());
}

}  // namespace stapgen::symbols::user
