// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/user/go_functions.h"

#include <doctest/doctest.h>

#include <string>

#include "made_elf.h"
#include "symbols/user/program_symbols.h"

namespace stapgen::symbols::user {

namespace {

using made::bytes_of;

/// As Go 1.20 lays it out: main.main at 0x10 and main.encode at 0x90 behind `start`, up to 0x100.
std::string table(std::uint64_t start, std::uint32_t magic = 0xfffffff1) {
    const std::string names = std::string("main.main\0main.encode\0", 22);
    constexpr std::uint64_t header = 8 + 8 * 8;
    const auto names_at = header, lines_at = names_at + names.size();
    auto bytes = bytes_of(magic) + std::string("\0\0\x01\x08", 4);
    for (const std::uint64_t word :
         {std::uint64_t{2}, std::uint64_t{0}, start, names_at, names_at, names_at, names_at, lines_at})
        bytes += bytes_of(word);
    bytes += names;
    for (const std::uint32_t word : {0x10U, 20U, 0x90U, 28U, 0x100U})
        bytes += bytes_of(word);
    for (const std::uint32_t word : {0x10U, 0U, 0x90U, 10U})
        bytes += bytes_of(word);
    return bytes;
}

}  // namespace

TEST_CASE("a stripped program of Go has the names of its functions") {
    const auto bytes = table(0x401000);
    const auto functions = go_functions(bytes, 0, 100);
    REQUIRE(functions.size() == 2);
    CHECK(functions[1].begin == 0x401090);
    CHECK(functions[1].size == 0x70);
    CHECK(std::string(bytes.c_str() + functions[1].name) == "main.encode");
    // Go 1.26 does not say where its code begins.
    CHECK(go_functions(table(0), 0x401000, 100)[0].begin == 0x401010);

    const auto all = ProgramSymbols::read(
        ProgramFile(made::elf({{".text", "", SHT_PROGBITS, 0, 0, 0x401000}, {".gopclntab", table(0)}})));
    CHECK(all.find(0x401095).value().name == "main.encode");
    CHECK(all.find(0x401100) == std::nullopt);
}

TEST_CASE("a damaged table has none") {
    const auto whole = table(0x401000);
    CHECK(go_functions(whole, 0, 1).empty());
    CHECK(go_functions(table(0, 0xfffffffb), 0, 100).empty());
    for (std::size_t size = 0; size < whole.size(); ++size)
        CHECK(go_functions(whole.substr(0, size), 0, 100).size() <= 2);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const char byte : {'\x00', '\x7f', '\xff'}) {
            auto changed = whole;
            changed[at] = byte;
            (void)ProgramSymbols::read(ProgramFile(made::elf({{".gopclntab", changed}}))).find(0x401095);
        }
    }
}

}  // namespace stapgen::symbols::user
