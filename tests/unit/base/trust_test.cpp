// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"

using namespace stapgen;
namespace fs = std::filesystem;

namespace {

constexpr uid_t nobody = 65534;

std::string why_not(const fs::path& path) {
    const auto trusted = base::only_root_writes(path);
    return trusted ? "" : trusted.error().what;
}

}  // namespace

TEST_CASE("what the system has for all to read is root's alone") {
    CHECK(why_not("/etc/passwd").empty());
    CHECK(why_not("/usr/bin/../bin").empty());
}

TEST_CASE("a folder that all may write is not root's alone, and only its sticky bit lets root's files stand in it") {
    CHECK(why_not("/tmp") == "/tmp may be written by others than root (mode 1777)");
    CHECK(base::only_root_replaces("/tmp").has_value());
    CHECK(base::only_root_writes("/tmp").error().hint.empty());
}

TEST_CASE("what is not there cannot be looked at") {
    CHECK(why_not("/etc/no/such") == "cannot examine /etc/no: No such file or directory");
}

TEST_CASE("another user's file, a mode, a folder on the way, a link and what it leads to each count") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto inner = folder.path() / "inner", file = inner / "file", link = inner / "link";
    REQUIRE(fs::create_directory(inner));
    REQUIRE(base::create_file(file, "x").has_value());
    fs::create_symlink(file, link);
    if (::geteuid() != 0) {
        CHECK(why_not(file).find("belongs to the user") != std::string::npos);
        return;
    }
    CHECK(why_not(file).empty());
    CHECK(why_not(link).empty());

    REQUIRE(::chmod(file.c_str(), 0602) == 0);
    CHECK(why_not(file) == file.string() + " may be written by others than root (mode 0602)");
    CHECK(why_not(link) == why_not(file));
    REQUIRE(::chmod(file.c_str(), 0620) == 0);
    CHECK(why_not(file).empty());  // of root's group
    REQUIRE(::chown(file.c_str(), 0, nobody) == 0);
    REQUIRE(::chmod(file.c_str(), 0620) == 0);
    CHECK(why_not(file) == file.string() + " may be written by others than root (mode 0620)");
    REQUIRE(::chown(file.c_str(), nobody, 0) == 0);
    CHECK(why_not(file) == file.string() + " belongs to the user 65534 and not to root");
    REQUIRE(::chown(file.c_str(), 0, 0) == 0);
    REQUIRE(::chmod(file.c_str(), 0600) == 0);

    REQUIRE(::lchown(link.c_str(), nobody, 0) == 0);
    CHECK(why_not(link) == link.string() + " belongs to the user 65534 and not to root");
    CHECK(why_not(file).empty());

    REQUIRE(::chmod(inner.c_str(), 0707) == 0);
    CHECK(why_not(file) == inner.string() + " may be written by others than root (mode 0707)");
    REQUIRE(::chmod(inner.c_str(), 01707) == 0);
    CHECK(why_not(file).empty());
    REQUIRE(::chown(inner.c_str(), nobody, 0) == 0);
    CHECK(why_not(file) == inner.string() + " belongs to the user 65534 and not to root");
}

TEST_CASE("the cache is its owner's alone, before stap makes it for all to write") {
    const auto folder = base::PrivateDirectory::create().value();
    ::setenv("XDG_CACHE_HOME", (folder.path() / "a/b").c_str(), 1);
    const auto cache = base::cache_directory();
    ::unsetenv("XDG_CACHE_HOME");
    CHECK(cache == folder.path() / "a/b/stapgen");
    CHECK_FALSE(fs::exists(folder.path() / "a"));
    base::make_cache(cache);
    struct stat status {};
    REQUIRE(::stat(cache.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0700);
}

TEST_CASE("links in a ring end") {
    const auto folder = base::PrivateDirectory::create().value();
    fs::create_symlink(folder.path() / "b", folder.path() / "a");
    fs::create_symlink(folder.path() / "a", folder.path() / "b");
    CHECK_FALSE(base::only_root_writes(folder.path() / "a").has_value());
}

TEST_CASE("a folder that the environment names counts for root only where nobody else can put something") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto shared = folder.path() / "shared";
    REQUIRE(fs::create_directory(shared));
    REQUIRE(::setenv("STAPGEN_TEST_FOLDER", shared.c_str(), 1) == 0);
    CHECK(base::trusted_folder("STAPGEN_TEST_FOLDER") == shared.string());
    REQUIRE(::chmod(shared.c_str(), 0777) == 0);
    CHECK(base::trusted_folder("STAPGEN_TEST_FOLDER").has_value() == (::geteuid() != 0));
    REQUIRE(::unsetenv("STAPGEN_TEST_FOLDER") == 0);
    CHECK_FALSE(base::trusted_folder("STAPGEN_TEST_FOLDER"));
}
