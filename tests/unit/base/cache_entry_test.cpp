// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "base/files.h"

using namespace stapgen::base;
namespace fs = std::filesystem;

TEST_CASE("a folder of the cache is made once, whole or not at all, and for its owner alone") {
    const auto folder = PrivateDirectory::create();
    const auto cache = folder->path() / "cache";
    const auto entry = cache_entry(cache, "boot-6.1", "what decides");
    CHECK(entry.filename() == "boot-6.1-317b2640c11e7b2d");
    CHECK(cache_entry(cache, "boot-6.1", "another") != entry);

    const auto refused = make_cache_entry(entry, [](const fs::path& fresh) -> Result<void> {
        REQUIRE(create_file(fresh / "half", "x"));
        return failed("it does not fit");
    });
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what == "it does not fit");
    CHECK(fs::is_empty(cache));

    int filled = 0;
    const auto fill = [&](const fs::path& fresh) {
        CHECK_FALSE(fs::exists(entry));
        return create_file(fresh / "file", std::to_string(++filled));
    };
    REQUIRE(make_cache_entry(entry, fill));
    REQUIRE(make_cache_entry(entry, fill));
    CHECK(filled == 1);
    CHECK(read_file(entry / "file") == "1");
    CHECK(fs::status(entry).permissions() == fs::perms::owner_all);
    CHECK(names_in(cache) == std::vector<std::string>{entry.filename()});
}

TEST_CASE("a folder of the cache that another process makes at the same time is as good") {
    const auto folder = PrivateDirectory::create();
    const auto entry = folder->path() / "entry";
    CHECK(make_cache_entry(entry, [&](const fs::path& fresh) {
        REQUIRE(fs::create_directory(entry));
        REQUIRE(create_file(entry / "file", "theirs"));
        return create_file(fresh / "file", "ours");
    }));
    CHECK(read_file(entry / "file") == "theirs");
    CHECK(names_in(folder->path()).size() == 1);
}

TEST_CASE("a folder of the cache below a file cannot be made, and another cache can be named") {
    const auto folder = PrivateDirectory::create();
    REQUIRE(create_file(folder->path() / "cache", ""));
    const auto made = make_cache_entry(folder->path() / "cache/entry", [](const fs::path&) { return Result<void>(); });
    REQUIRE_FALSE(made);
    CHECK(made.error().hint.find("$XDG_CACHE_HOME") != std::string::npos);
}
