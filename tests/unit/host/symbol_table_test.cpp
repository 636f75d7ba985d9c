// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "base/files.h"
#include "fakes/system/fake_system.h"
#include "host/workarounds.h"

using namespace stapgen;
using namespace stapgen::host;

namespace {

constexpr std::string_view kallsyms =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 t helper\n"
    "ffffffff81000200 W weak_one\n"
    "ffffffff82000000 D some_data\n"
    "ffffffffc0000000 t in_a_module\t[nf_tables]\n";
constexpr std::string_view map = "ffffffff81000000 T _text\nffffffff81000100 t helper\nffffffff81000200 T weak_one\n";

Target stub() {
    Target target;
    target.release = "6.1";
    target.running = true;
    target.symbol_table = {SymbolTableState::stub, "/boot/System.map-6.1"};
    return target;
}

}  // namespace

TEST_CASE("a symbol table for stap has the kernel's functions and nothing else") {
    CHECK(system_map_from(kallsyms) == map);
    CHECK(system_map_from("").empty());
    CHECK(system_map_from("no table at all\n").empty());
}

TEST_CASE("Debian's stub names no function, a real table does, addresses hidden or not") {
    CHECK_FALSE(names_functions("ffffffffffffffff B The real System.map is in the linux-image-dbg package\n"));
    CHECK(names_functions(map));
    CHECK(names_functions("0000000000000000 T _text\n"));
    CHECK_FALSE(names_functions(""));
}

TEST_CASE("a stub is covered by a table made of the running kernel's symbols, written once") {
    const auto folder = base::PrivateDirectory::create();
    FakeSystem system;
    system.files = {{"/proc/kallsyms", std::string(kallsyms)}};
    const auto planned = provide_symbol_table(system, stub(), std::nullopt, folder->path(), Making::planned);
    CHECK(std::filesystem::is_empty(folder->path()));
    const auto workaround = provide_symbol_table(system, stub(), std::nullopt, folder->path());
    REQUIRE(workaround);
    REQUIRE(*workaround);
    CHECK((*planned)->mounts[0].source == (*workaround)->mounts[0].source);
    CHECK((*workaround)->mounts[0].target == "/boot/System.map-6.1");
    CHECK(base::read_file((*workaround)->mounts[0].source) == std::string(map));
    CHECK((*workaround)->line.find("is a stub") != std::string::npos);
    const auto again = provide_symbol_table(system, stub(), std::nullopt, folder->path());
    CHECK((*again)->mounts[0].source == (*workaround)->mounts[0].source);
}

TEST_CASE("where there is no table at all, a folder with ours takes the place of /boot") {
    const auto folder = base::PrivateDirectory::create();
    const auto file = folder->path() / "symbols";
    REQUIRE(base::create_file(file, kallsyms));
    auto target = stub();
    target.symbol_table = {};
    target.running = false;
    const auto workaround = provide_symbol_table(FakeSystem{}, target, file, folder->path());
    REQUIRE(workaround);
    REQUIRE(*workaround);
    CHECK((*workaround)->mounts[0].target == "/boot");
    CHECK(base::read_file((*workaround)->mounts[0].source / "System.map-6.1") == std::string(map));
}

TEST_CASE("no workaround where none is needed or possible, an error where the user's file is useless") {
    const auto folder = base::PrivateDirectory::create();
    auto usable = stub();
    usable.symbol_table.state = SymbolTableState::usable;
    CHECK_FALSE(provide_symbol_table(FakeSystem{}, usable, std::nullopt, folder->path())->has_value());
    CHECK_FALSE(provide_symbol_table(FakeSystem{}, stub(), std::nullopt, folder->path())->has_value());
    const auto file = folder->path() / "useless";
    REQUIRE(base::create_file(file, "nothing\n"));
    CHECK_FALSE(provide_symbol_table(FakeSystem{}, stub(), file, folder->path()));
}
