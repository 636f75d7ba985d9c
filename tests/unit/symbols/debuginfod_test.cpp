// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/debuginfod.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "fake_kernel.h"
#include "symbols/files/kernel_image.h"
#include "symbols/kernel_names.h"

using namespace stapgen::symbols;
using namespace fake_kernel;

namespace {

constexpr std::string_view unknown_id = "0123456789abcdef0123456789abcdef01234567";

}  // namespace

TEST_CASE("without a server nothing is asked") {
    ::unsetenv("DEBUGINFOD_URLS");
    CHECK(debuginfo_of(unknown_id).error().what == "no debuginfo server is configured");
    ::setenv("DEBUGINFOD_URLS", " ", 1);
    CHECK(debuginfo_of(unknown_id).error().what == "no debuginfo server is configured");
}

TEST_CASE("what is not a build-id is not asked for") {
    for (const auto& id : std::vector<std::string>{"", "abc", "../../etc/passwd", "xy", std::string(130, 'a')}) {
        const auto found = debuginfo_of(id);
        REQUIRE(!found);
        CHECK(found.error().what.find("is not a build-id") != std::string::npos);
    }
}

TEST_CASE("debuginfo of a build-id comes from the server that has it") {
    // The client reads folders as it reads servers.
    const File cache("");
    const auto id = fake_kernel::kernel_image(vmlinux)->build_id();
    const auto shelf = cache.folder() / "server" / "buildid" / id;
    std::filesystem::create_directories(shelf);
    std::filesystem::copy_file(vmlinux, shelf / "debuginfo");
    ::setenv("DEBUGINFOD_URLS", ("file://" + (cache.folder() / "server/").string()).c_str(), 1);
    ::setenv("DEBUGINFOD_CACHE_PATH", (cache.folder() / "cache").c_str(), 1);
    const auto found = debuginfo_of(id);
    if (!found) FAIL(found.error().what);
    CHECK(content(*found) == content(vmlinux));
    // What a log says of its kernel asks nobody: the user does.
    const std::string nothing = "nothing to take names from";
    NameSources sources;
    LogKernel log;
    log.build_id = id;
    CHECK(KernelNames::open(sources, log).error().what == nothing);
    sources.fetch = true;
    const auto fetched = KernelNames::open(sources, log);
    CHECK((fetched || fetched.error().what != nothing));
    const auto unknown = debuginfo_of(unknown_id);
    REQUIRE(!unknown);
    CHECK(unknown.error().what.find(unknown_id) != std::string::npos);
    ::unsetenv("DEBUGINFOD_URLS");
}
