// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/files.h"
#include "launch/child_process.h"

using namespace stapgen;
using namespace stapgen::launch;

TEST_CASE("stap compiles here where the kernel takes signed modules only, and asks no server") {
    CHECK(child_environment().at("SYSTEMTAP_NOSIGN") == "1");
}

TEST_CASE("what runs as root looks for nothing where another user may put it") {
    const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
    const auto folder = base::PrivateDirectory::create().value();
    REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
    for (const char* name : {"HOME", "DEBUGINFOD_CACHE_PATH", "TMPDIR"})
        REQUIRE(::setenv(name, folder.path().c_str(), 1) == 0);
    const auto environment = child_environment();
    const bool is_root = ::geteuid() == 0;
    CHECK(environment.at("HOME") == (is_root ? "/root" : folder.path().string()));
    for (const char* name : {"DEBUGINFOD_CACHE_PATH", "TMPDIR"}) {
        CAPTURE(name);
        CHECK(environment.contains(name) == !is_root);
        REQUIRE(::unsetenv(name) == 0);
    }
    REQUIRE(::setenv("HOME", home.c_str(), 1) == 0);
}
