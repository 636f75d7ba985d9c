// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/below.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

using namespace stapgen;
namespace fs = std::filesystem;

TEST_CASE("folders are made below a folder, and root follows no link there") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto store = folder.path() / "store", elsewhere = folder.path() / "elsewhere";
    {
        const auto open = base::open_below(store, "runs/recipe=x/day=y", true).value();
        REQUIRE(base::replace_file(base::path_of(open) / "a.parquet", "x"));
        // What its name becomes does not matter any more.
        fs::rename(store / "runs", store / "other");
        REQUIRE(base::replace_file(base::path_of(open) / "b.parquet", "x"));
    }
    CHECK(base::names_in(store / "other/recipe=x/day=y") == std::vector<std::string>{"a.parquet", "b.parquet"});
    CHECK_FALSE(base::open_below(store, "none", false));

    fs::create_directory(elsewhere);
    fs::create_directory_symlink(elsewhere, store / "runs");
    const auto open = base::open_below(store, "runs/recipe=x", true);
    CHECK(open.has_value() == (::geteuid() != 0));
    CHECK(fs::is_empty(elsewhere) == (::geteuid() == 0));
    if (!open) {
        CHECK(open.error().what == "cannot open the folder " + (store / "runs").string() + ": a link or a file");
    }
    // The folder that was named may be a link: who named it said so.
    fs::create_directory_symlink(store, folder.path() / "link");
    CHECK(base::open_below(folder.path() / "link", "other/recipe=x", false));
}
