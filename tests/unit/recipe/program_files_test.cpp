// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "recipe/carried_files.h"
#include "recipe/catalog.h"

using namespace stapgen;
namespace fs = std::filesystem;

namespace {

constexpr uid_t nobody = 65534;
const recipe::ProgramFiles ours{"/templates", {}, {}, {}, {}};

struct Variable {
    Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { ::unsetenv(name_); }

  private:
    const char* name_;
};

std::vector<std::string> folders_of(const std::string& recipe_path) {
    std::vector<std::string> names;
    for (const auto& folder : recipe::recipe_folders(recipe_path, ours))
        names.push_back(folder.path);
    return names;
}

}  // namespace

TEST_CASE("recipes of the machine come before ours, and for root before those of a home") {
    const Variable home("HOME", "/home/somebody");
    const std::string own = "/home/somebody/.config/stapgen/recipes", machine = "/etc/stapgen/recipes";
    if (::geteuid() == 0) {
        CHECK(folders_of("/a:/b") == std::vector<std::string>{"/a", "/b", machine, own, "/templates"});
    } else {
        CHECK(folders_of("/a:/b") == std::vector<std::string>{"/a", "/b", own, machine, "/templates"});
    }
    const Variable config("XDG_CONFIG_HOME", "/elsewhere");
    CHECK(std::ranges::count(folders_of(""), "/elsewhere/stapgen/recipes") == 1);
    CHECK(std::ranges::count(folders_of(""), own) == 0);
}

TEST_CASE("under sudo a recipe of the caller's is refused, and the remedy is a copy for root, whatever $HOME is") {
    if (::geteuid() != 0) return;
    const auto folder = base::PrivateDirectory::create().value();
    const auto recipe = folder.path() / "stapgen/recipes/mine";
    REQUIRE(fs::create_directories(recipe));
    REQUIRE(base::create_file(recipe / "recipe.toml", "x").has_value());
    REQUIRE(base::create_file(recipe / "script.stp", "x").has_value());
    const Variable config("XDG_CONFIG_HOME", folder.path());
    CHECK(recipe::own_recipe_folder() == folder.path() / "stapgen/recipes");
    REQUIRE(::chown(folder.path().c_str(), nobody, 0) == 0);
    CHECK(recipe::own_recipe_folder() == fs::path("/etc/stapgen/recipes"));

    const auto refusal = [&](const std::string& recipe_path) {
        return recipe::find_recipe(recipe::load_catalog(recipe::recipe_folders(recipe_path, ours)), "mine").error();
    };
    const auto why =
        "the recipe 'mine' is ignored: " + folder.path().string() + " belongs to the user 65534 and not to root";
    const auto copy = "install -D -m 644 -t /etc/stapgen/recipes/mine " + (recipe / "recipe.toml").string() + " " +
                      (recipe / "script.stp").string();
    CHECK(refusal("").what == why);
    CHECK(refusal("").hint == "read it, and copy it to where only root writes: " + copy);

    const Variable uid("SUDO_UID", std::to_string(nobody));
    CHECK(refusal("").hint == "read it, and copy it to where only root writes: sudo " + copy);
    CHECK(refusal(recipe.parent_path()).hint ==
          "read it, and copy it to where only root writes, where stapgen finds it without --recipe-path: sudo " + copy);
    // Where sudo has set $HOME to root's: nobody's home is in /etc/passwd.
    CHECK(std::ranges::count(folders_of(""), "/nonexistent/.config/stapgen/recipes") == 1);
}

TEST_CASE("files within the program are unpacked once, whole, and where nobody else can change them") {
    const auto top = base::PrivateDirectory::create().value();
    const auto cache = top.path() / "cache";
    const std::vector<recipe::CarriedFile> files{{"templates/one/recipe.toml", "name"}, {"kernels.toml", "x\n"}};
    const auto folder = recipe::unpack(files, cache).value();
    CHECK(base::read_file(folder / "templates/one/recipe.toml") == std::string("name"));
    CHECK(base::read_file(folder / "kernels.toml") == std::string(files[1].content));
    const auto made = fs::last_write_time(folder);
    CHECK(recipe::unpack(files, cache) == folder);
    CHECK(fs::last_write_time(folder) == made);

    // Other content is another folder, and nothing half done stays beside them.
    const std::vector<recipe::CarriedFile> newer{{"templates/one/recipe.toml", "newer"}};
    CHECK(recipe::unpack(newer, cache).value() != folder);
    CHECK(std::distance(fs::directory_iterator(cache), {}) == 2);
    const std::vector<recipe::CarriedFile> twice{{"a", ""}, {"a", ""}};
    CHECK(!recipe::unpack(twice, cache));
    CHECK(std::distance(fs::directory_iterator(cache), {}) == 2);

    REQUIRE(base::create_file(top.path() / "file", ""));
    CHECK(recipe::unpack(files, top.path() / "file").error().what.find("Not a directory") != std::string::npos);
    if (::geteuid() == 0) {
        fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
        CHECK(recipe::unpack(files, cache).error().what.find("may be written by others") != std::string::npos);
    }
}
