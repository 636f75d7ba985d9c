// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/debuginfod.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/files.h"
#include "base/kernel.h"

namespace stapgen::symbols {

namespace {

// debuginfod_find_debuginfo(3). Loaded where it is needed, so that the program starts without it.
constexpr const char* library = "libdebuginfod.so.1";
struct debuginfod_client;
using Begin = debuginfod_client* (*)();
using End = void (*)(debuginfod_client*);
using Find = int (*)(debuginfod_client*, const unsigned char* build_id, int size, char** path);
using Progress = int (*)(debuginfod_client*, long done, long all);
using SetProgress = void (*)(debuginfod_client*, Progress);

/// Called several times a second. A line every five seconds: nothing is shown of what is there at once.
int show_progress(debuginfod_client*, long done, long all) {
    using Clock = std::chrono::steady_clock;
    thread_local Clock::time_point last = Clock::now();
    constexpr std::chrono::seconds between{5};
    if (Clock::now() - last < between) return 0;
    last = Clock::now();
    constexpr double mb = 1e6;
    if (all > 0) {
        fmt::print(stderr, "debuginfod: {:.0f} of {:.0f} MB\n", static_cast<double>(done) / mb,
                   static_cast<double>(all) / mb);
    } else {
        fmt::print(stderr, "debuginfod: asking the servers\n");
    }
    return 0;
}

bool debuginfod_is_set() {
    const char* const servers = std::getenv("DEBUGINFOD_URLS");
    return servers != nullptr && servers[std::strspn(servers, " \t")] != '\0';
}

}  // namespace

base::Result<std::filesystem::path> debuginfo_of(std::string_view build_id) {
    if (!base::is_build_id(build_id)) return base::bad_input(fmt::format("\"{}\" is not a build-id", build_id));
    if (!debuginfod_is_set()) {
        return base::bad_input("no debuginfo server is configured",
                               "set DEBUGINFOD_URLS, for example to your distribution's server");
    }
    // Never unloaded: libcurl, which it needs, keeps things of its own to the end.
    void* const code = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (code == nullptr && ::getauxval(AT_BASE) == 0) {
        return base::bad_input(
            fmt::format("a statically linked program cannot load {}", library),
            fmt::format(
                "fetch it with 'debuginfod-find debuginfo {}' and give it with --map, or use an installed stapgen",
                build_id));
    }
    if (code == nullptr) {
        return base::bad_input(fmt::format("{} is not installed", library),
                               "Debian has it in libdebuginfod1, Fedora and RHEL in elfutils-debuginfod-client");
    }
    const auto begin = reinterpret_cast<Begin>(::dlsym(code, "debuginfod_begin"));
    const auto end = reinterpret_cast<End>(::dlsym(code, "debuginfod_end"));
    const auto find = reinterpret_cast<Find>(::dlsym(code, "debuginfod_find_debuginfo"));
    const auto set_progress = reinterpret_cast<SetProgress>(::dlsym(code, "debuginfod_set_progressfn"));
    if (begin == nullptr || end == nullptr || find == nullptr || set_progress == nullptr) {
        return base::bad_input(fmt::format("{} lacks debuginfod_find_debuginfo()", library),
                               "install elfutils 0.179 or later");
    }
    // Root takes no debuginfo from a cache that another user may write.
    for (const auto* name : {"DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME", "HOME"}) {
        if (std::getenv(name) != nullptr && !base::trusted_folder(name))
            ::setenv("DEBUGINFOD_CACHE_PATH", (base::cache_directory() / "debuginfod").c_str(), 1);
    }
    const std::unique_ptr<debuginfod_client, End> client(begin(), end);
    if (!client) return base::failed("the debuginfod client does not start: out of memory");
    set_progress(client.get(), show_progress);
    char* found = nullptr;
    // A size of 0: the build-id is hexadecimal text.
    const base::Descriptor file(
        find(client.get(), reinterpret_cast<const unsigned char*>(std::string(build_id).c_str()), 0, &found));
    const std::unique_ptr<char, decltype(&std::free)> path(found, std::free);
    if (file.get() < 0 || !path) {
        if (file.get() == -ENOENT) {
            return base::bad_input(fmt::format("no server in DEBUGINFOD_URLS has debuginfo of build-id {}", build_id),
                                   "use the servers of the kernel's distribution");
        }
        return base::bad_input(
            fmt::format("debuginfo of build-id {} cannot be fetched: {}", build_id, std::strerror(-file.get())),
            "check the network and DEBUGINFOD_URLS; DEBUGINFOD_VERBOSE=1 prints more");
    }
    return std::filesystem::path(path.get());
}

}  // namespace stapgen::symbols
