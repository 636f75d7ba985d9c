#include "symbols/resolve.h"

#include <doctest/doctest.h>

using namespace stapgen;
using symbols::resolve_address;
using symbols::SymbolTable;

namespace {

SymbolTable seed() {
    auto table = SymbolTable::parse(
        "ffffffff8149a420 t unix_dgram_poll\n"
        "ffffffff8149a5e0 t unix_stream_recvmsg\n"
        "ffffffff8149ad00 t unix_find_other\n");
    REQUIRE(table);
    return std::move(*table);
}

}  // namespace

TEST_CASE("an address may be written in every usual way") {
    const auto table = seed();
    for (const auto* word : {"0xffffffff8149a8ed", "ffffffff8149a8ed", "0XFFFFFFFF8149A8ED", "FFFFFFFF8149a8ed",
                             " 0xffffffff8149a8ed\r\n"}) {
        const auto resolved = resolve_address(table, word);
        REQUIRE_MESSAGE(resolved, word);
        CHECK(resolved->address == 0xffffffff8149a8ed);
        CHECK(to_string(*resolved) == "unix_stream_recvmsg+0x30d/0x720");
    }
}

TEST_CASE("an address that the table cannot know is an answer, not an error") {
    const auto table = seed();
    const auto resolved = resolve_address(table, "ffffffffc076e440");
    REQUIRE(resolved);
    CHECK_FALSE(resolved->symbol);
    CHECK(to_string(*resolved) == "module or unknown");
}

TEST_CASE("a word that is no address is an error with a remedy, and harmless on a terminal") {
    const auto table = seed();
    for (const auto* word :
         {"", "0x", "tcp_v4_rcv", "0x0x12", "-12", "+12", "fffffffff8149a8ed", "ffff ffff", "12,", "\x1b[31m"}) {
        const auto resolved = resolve_address(table, word);
        REQUIRE_FALSE_MESSAGE(resolved, word);
        CHECK(resolved.error().kind == base::ErrorKind::bad_input);
        CHECK(resolved.error().what.find("is not an address") != std::string::npos);
        CHECK(resolved.error().what.find('\x1b') == std::string::npos);
        CHECK_FALSE(resolved.error().hint.empty());
    }
}

TEST_CASE("a drop site is looked up as the return address that it is") {
    const auto table = seed();
    const symbols::Lookup lookup{symbols::AddressKind::return_address, 0};
    CHECK(to_string(*resolve_address(table, "ffffffff8149a5e0", lookup)) == "unix_dgram_poll+0x1c0/0x1c0");
}
