// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "fakes/system/fake_system.h"
#include "launch/stap_command.h"

using namespace stapgen::launch;

TEST_CASE("the buffer that would have held what was lost is the present one and room for that") {
    // 20011 records of 149 bytes and a header of 12, and a quarter more: 3.84 MB.
    CHECK(buffer_to_hold({1, 20011, 149, 4095}) == 5);
    CHECK(buffer_to_hold({16, 20011, 149, 4095}) == 20);
    CHECK(buffer_to_hold({1, 1, 149, 4095}) == 2);
    CHECK(buffer_to_hold({16, 20'000'011, 149, 4095}) == 3855);
}

TEST_CASE("no buffer is named where nothing was lost, where the present one is not known, and where it is too much") {
    CHECK_FALSE(buffer_to_hold({16, 0, 149, 4095}));
    CHECK_FALSE(buffer_to_hold({16, -7, 149, 4095}));
    CHECK_FALSE(buffer_to_hold({0, 17, 149, 4095}));
    CHECK_FALSE(buffer_to_hold({16, 20011, 149, 19}));
    CHECK_FALSE(buffer_to_hold({16, 20'000'011, 149, 3854}));
    CHECK_FALSE(buffer_to_hold({16, 9'223'372'036'854'775'807, 149, 4095}));
    CHECK_FALSE(buffer_to_hold({16, 20'000'011, 1490, 1 << 30}));
}

TEST_CASE("half of what memory is available, shared by the CPUs, is the most a buffer may take") {
    const auto of = [](const char* meminfo, std::int64_t cpus) {
        stapgen::host::FakeSystem system;
        system.files["/proc/meminfo"] = meminfo;
        return max_buffer_mb(system, cpus);
    };
    CHECK(of("MemTotal:        2034188 kB\nMemFree:  1 kB\nMemAvailable:    1785344 kB\n", 2) == 435);
    CHECK(of("MemAvailable:    1785344 kB\n", 1) == 871);
    CHECK(of("MemAvailable:    999999999 kB\n", 4) == 4095);
    CHECK(of("MemAvailable:    1000 kB\n", 4) == 1);
    CHECK(of("MemAvailable:", 0) == 4095);
    CHECK(of("", 2) == 4095);
}
