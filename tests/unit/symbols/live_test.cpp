// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "base/files.h"
#include "symbols/kernel_names.h"

using namespace stapgen;

namespace {

const std::filesystem::path data = TEST_DATA;

}  // namespace

TEST_CASE("a symbol table is read from a file") {
    const auto table = symbols::SymbolTable::read(data / "kallsyms-6.12.117-excerpt");
    REQUIRE(table);
    CHECK(table->find(0xffffffff81b54b40)->name == "icmp_rcv");
}

TEST_CASE("a bad file is bad input where the user named it and a limit of the machine where it is its own") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto hidden = folder->path() / "kallsyms";
    REQUIRE(base::create_file(hidden, "0000000000000000 T _stext\n"));
    const auto named = symbols::SymbolTable::read(hidden);
    REQUIRE_FALSE(named);
    CHECK(named.error().kind == base::ErrorKind::bad_input);
    CHECK(named.error().what.find(hidden.string()) != std::string::npos);
    const auto own = symbols::KernelNames::of_this_machine(hidden, "/nowhere");
    REQUIRE_FALSE(own);
    CHECK(own.error().kind == base::ErrorKind::cannot_here);
    CHECK(symbols::KernelNames::of_this_machine(folder->path() / "none", "/nowhere").error().kind ==
          base::ErrorKind::cannot_here);
}

TEST_CASE("drop reasons come from the first place that has them") {
    const auto reasons =
        symbols::DropReasons::of_this_machine({"/nowhere/format", data / "kfree_skb-format-6.12.117"}, "/nowhere/btf");
    REQUIRE(reasons);
    CHECK(reasons->name(3) == "NO_SOCKET");
}

TEST_CASE("drop reasons come from the kernel's type information where tracefs is closed or lists none") {
    const auto btf = data / "btf-7.2.12-excerpt";
    const auto closed = symbols::DropReasons::of_this_machine({"/nowhere/format"}, btf);
    REQUIRE(closed);
    CHECK(closed->name(103) == "QUEUE_PURGE");
    const auto lists_none = symbols::DropReasons::of_this_machine({data / "README.md"}, btf);
    REQUIRE(lists_none);
    CHECK(lists_none->name(103) == "QUEUE_PURGE");
}

TEST_CASE("a kernel that has no drop reasons is told so, and not to mount what is mounted") {
    const auto reasons = symbols::DropReasons::of_this_machine({data / "README.md"}, "/nowhere/btf");
    REQUIRE_FALSE(reasons);
    CHECK(reasons.error().kind == base::ErrorKind::cannot_here);
    CHECK(reasons.error().what.find("lists no drop reasons") != std::string::npos);
    CHECK(reasons.error().hint.find("before 5.17") != std::string::npos);
}

TEST_CASE("without tracefs every place that was tried is named, with the remedy") {
    const auto reasons = symbols::DropReasons::of_this_machine({"/nowhere/a", "/nowhere/b"}, "/nowhere/btf");
    REQUIRE_FALSE(reasons);
    CHECK(reasons.error().kind == base::ErrorKind::cannot_here);
    CHECK(reasons.error().what.find("/nowhere/a") != std::string::npos);
    CHECK(reasons.error().what.find("/nowhere/b") != std::string::npos);
    CHECK(reasons.error().what.find("/nowhere/btf") != std::string::npos);
    CHECK(reasons.error().hint.find("mount -t tracefs") != std::string::npos);
}
