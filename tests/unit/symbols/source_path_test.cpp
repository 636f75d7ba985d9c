// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "symbols/source_lines.h"

using stapgen::symbols::source_path;

TEST_CASE("a file of the source is named from the source's folder on, wherever it was built") {
    // In the source itself.
    CHECK(source_path("/usr/src/linux/net/sched/sch_api.c", "/usr/src/linux") == "net/sched/sch_api.c");
    // Debian 12, assembler.
    CHECK(source_path("/build/linux-6.1.192/arch/x86/entry/entry_64.S",
                      "/build/linux-6.1.192/debian/build/build_amd64_none_amd64") == "arch/x86/entry/entry_64.S");
    // Debian 13: the source's folder is left out by the compiler, and that of the build put before by libdw.
    CHECK(source_path("debian/build/build_amd64_none_amd64/net/core/dev.c", "debian/build/build_amd64_none_amd64") ==
          "net/core/dev.c");
    // A file that the build made.
    CHECK(source_path("debian/build/amd64/debian/build/amd64/arch/x86/include/generated/asm/syscalls_64.h",
                      "debian/build/amd64") == "arch/x86/include/generated/asm/syscalls_64.h");
    CHECK(source_path("/usr/src/linux/./include/../net/ipv4/tcp.c", "/usr/src/linux/") == "net/ipv4/tcp.c");
}

TEST_CASE("a file that shares nothing with the folder of the build stays as it is") {
    CHECK(source_path("/usr/lib/gcc/include/stddef.h", "/build/linux") == "/usr/lib/gcc/include/stddef.h");
    CHECK(source_path("net/core/dev.c", "/build/linux") == "net/core/dev.c");
    CHECK(source_path("net/core/dev.c", "") == "net/core/dev.c");
    CHECK(source_path("", "") == "");
    CHECK(source_path("/build/linux", "/build/linux") == "/build/linux");
}
