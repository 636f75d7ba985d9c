#include "symbols/live.h"

#include <doctest/doctest.h>

#include "base/files.h"

using namespace stapgen;

namespace {

const std::filesystem::path data = TEST_DATA;

}  // namespace

TEST_CASE("a symbol table is read from a file") {
    const auto table = symbols::read_symbol_file(data / "kallsyms-6.12.117-excerpt");
    REQUIRE(table);
    CHECK(table->find(0xffffffff81b54b40)->name == "icmp_rcv");
}

TEST_CASE("a bad file is bad input where the user named it and a limit of the machine where it is its own") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto hidden = folder->path() / "kallsyms";
    REQUIRE(base::create_file(hidden, "0000000000000000 T _stext\n"));
    const auto named = symbols::read_symbol_file(hidden);
    REQUIRE_FALSE(named);
    CHECK(named.error().kind == base::ErrorKind::bad_input);
    CHECK(named.error().what.find(hidden.string()) != std::string::npos);
    const auto own = symbols::read_live_symbols(hidden);
    REQUIRE_FALSE(own);
    CHECK(own.error().kind == base::ErrorKind::cannot_here);
    CHECK(symbols::read_live_symbols(folder->path() / "none").error().kind == base::ErrorKind::cannot_here);
}

TEST_CASE("drop reasons come from the first place that has them") {
    const auto reasons = symbols::read_live_drop_reasons({"/nowhere/format", data / "kfree_skb-format-6.12.117"});
    REQUIRE(reasons);
    CHECK(reasons->name(3) == "NO_SOCKET");
}

TEST_CASE("without tracefs every place that was tried is named, with the remedy") {
    const auto reasons = symbols::read_live_drop_reasons({"/nowhere/a", "/nowhere/b"});
    REQUIRE_FALSE(reasons);
    CHECK(reasons.error().kind == base::ErrorKind::cannot_here);
    CHECK(reasons.error().what.find("/nowhere/a") != std::string::npos);
    CHECK(reasons.error().what.find("/nowhere/b") != std::string::npos);
    CHECK(reasons.error().hint.find("mount -t tracefs") != std::string::npos);
}
