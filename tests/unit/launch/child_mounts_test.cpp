// SPDX-License-Identifier: GPL-2.0-or-later
// Bind mounts for a child: launch/child_process.h.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "launch/child_process.h"

using namespace stapgen;
using namespace stapgen::launch;

namespace {

Command fake_cat(const std::filesystem::path& file) {
    return {{FAKE_STAP, file.string()}, {{"FAKE_STAP", "cat"}}, {}, {}};
}
auto run_for_lines(const Command& command, std::vector<std::string>& lines) {
    Handlers handlers;
    handlers.output = [&](Line line, Control&) { lines.emplace_back(line.text); };
    return run_child(command, handlers);
}

}  // namespace

TEST_CASE("a bind mount is seen by the child and by nobody else") {
    const auto folder = base::PrivateDirectory::create();
    const auto ours = folder->path() / "ours";
    const auto stub = folder->path() / "stub";
    REQUIRE(base::create_file(ours, "the table\n"));
    REQUIRE(base::create_file(stub, "a stub\n"));
    auto command = fake_cat(stub);
    command.mounts = {{ours, stub}};
    std::vector<std::string> lines;
    const auto ending = run_for_lines(command, lines);
    if (!ending && ending.error().what.find("namespace") != std::string::npos) {
        MESSAGE("skipped: this machine allows no mount namespace");
        return;
    }
    REQUIRE_MESSAGE(ending, ending.error().what);
    CHECK(lines == std::vector<std::string>{"the table"});
    CHECK(base::read_file(stub) == "a stub\n");
}

namespace {

/// Makes FOLDER a chroot that is no mount point, on a file system whose mounts are passed on to all who share it.
bool make_chroot(const std::filesystem::path& folder) {
    const auto root = folder / "root";
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", folder.c_str(), "tmpfs", 0, nullptr) != 0 ||
        ::mount("none", folder.c_str(), nullptr, MS_SHARED, nullptr) != 0) {
        return false;
    }
    for (const auto* name : {"/usr", "/bin", "/lib", "/lib64", "/dev"}) {
        std::error_code error;
        if (std::filesystem::is_symlink(name, error)) {
            std::filesystem::create_directories(root, error);
            std::filesystem::copy_symlink(name, root.string() + name, error);
        } else if (std::filesystem::is_directory(name, error)) {
            std::filesystem::create_directories(root.string() + name, error);
            if (::mount(name, (root.string() + name).c_str(), nullptr, MS_BIND, nullptr) != 0) return false;
        }
        if (error) return false;
    }
    return base::create_file(root / "ours", "the table\n") && base::create_file(root / "stub", "a stub\n");
}

}  // namespace

TEST_CASE("in a chroot that is no mount point a bind mount is seen by the child, and does not get out of it") {
    const auto folder = base::PrivateDirectory::create();
    enum : int { fine, cannot_here, failed, not_seen, got_out };
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (::unshare(CLONE_NEWNS) != 0 || !make_chroot(folder->path())) ::_exit(cannot_here);
        const int outside = ::open(folder->path().c_str(), O_PATH | O_DIRECTORY);
        if (::chroot((folder->path() / "root").c_str()) != 0 || ::chdir("/usr") != 0) ::_exit(cannot_here);
        Command command{{"/bin/cat", "/stub"}, {}, {{"/ours", "/stub"}}, {}};
        std::string said;
        Handlers handlers;
        handlers.output = [&](Line line, Control&) { said += line.text; };
        const auto ending = run_child(command, handlers);
        if (!ending || !ending->clean()) ::_exit(failed);
        if (said != "the table") ::_exit(not_seen);
        char text[7] = {};
        const int stub = ::openat(outside, "root/stub", O_RDONLY);
        ::_exit(::read(stub, text, 6) == 6 && std::string_view(text) == "a stub" ? fine : got_out);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == cannot_here) {
        MESSAGE("skipped: this machine allows no mount namespace");
        return;
    }
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == fine);
}

TEST_CASE("a bind mount that fails names both ends") {
    auto command = fake_cat("/dev/null");
    command.mounts = {{"/no/such/source", "/no/such/target"}};
    const auto result = run_child(command, {});
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == base::ErrorKind::cannot_here);
    CHECK_FALSE(result.error().hint.empty());
}

TEST_CASE("what may be left out is left out where it cannot be mounted, with what comes behind it") {
    const auto folder = base::PrivateDirectory::create();
    const auto ours = folder->path() / "ours";
    const auto stub = folder->path() / "stub";
    REQUIRE(base::create_file(ours, "hidden by this\n"));
    REQUIRE(base::create_file(stub, "as it is\n"));
    auto command = fake_cat(stub);
    command.mounts = {{"/no/such/source", "/no/such/target", true}, {ours, stub, true}};
    std::vector<std::string> lines;
    const auto ending = run_for_lines(command, lines);
    REQUIRE_MESSAGE(ending, ending.error().what);
    CHECK(lines == std::vector<std::string>{"as it is"});
}
