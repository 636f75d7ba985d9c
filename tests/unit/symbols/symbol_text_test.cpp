// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/files/symbol_text.h"

#include <doctest/doctest.h>

#include <string>

using namespace stapgen;
using symbols::parse_symbol_text;

namespace {

base::Error error_of(std::string_view text, std::string_view origin = "FILE") {
    auto parsed = parse_symbol_text(text, origin);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().kind == base::ErrorKind::bad_input);
    return parsed.error();
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a line is address, type, name and perhaps a module") {
    const std::string_view text =
        "ffffffffc0a01000 t nft_do_chain\t[nf_tables]\n"
        "c0008000 T stext\n"
        "FFFFFFFFC0A02000 t other [nf_tables]\n";
    const auto parsed = parse_symbol_text(text, "FILE");
    REQUIRE(parsed);
    REQUIRE(parsed->lines.size() == 3);
    CHECK(parsed->lines[0].address == 0xffffffffc0a01000);
    CHECK(parsed->lines[0].type == 't');
    CHECK(text.substr(parsed->lines[0].name_begin, parsed->lines[0].name_size) == "nft_do_chain");
    CHECK(parsed->modules[parsed->lines[0].module] == "nf_tables");
    CHECK(parsed->lines[1].address == 0xc0008000);
    CHECK(parsed->lines[1].module == 0);
    CHECK(parsed->lines[2].address == 0xffffffffc0a02000);
    CHECK(parsed->lines[2].module == parsed->lines[0].module);
}

TEST_CASE("nm -S has sizes, other tools write 0x") {
    const std::string_view text =
        "ffffffff81000000 0000000000000060 T _stext\n0xffffffff81000060 t next\nffffffff81000070 00000000ffffffff0 d "
        "d\n";
    const auto parsed = parse_symbol_text(text.substr(0, text.rfind("ffffffff8")), "FILE");
    REQUIRE(parsed);
    REQUIRE(parsed->lines.size() == 2);
    CHECK(parsed->lines[0].size == 0x60);
    CHECK(parsed->lines[0].type == 'T');
    CHECK(parsed->lines[1].address == 0xffffffff81000060);
    CHECK(parsed->lines[1].size == 0);
    CHECK_FALSE(parsed->eight_digits);
    CHECK(has(error_of(text).what, "line 3, column 34"));
    CHECK(parse_symbol_text("c0008000 00000060 T a\n", "FILE")->eight_digits);
}

TEST_CASE("modules that take turns stay apart") {
    const auto parsed =
        parse_symbol_text("00001000 t a [x]\n00002000 t b [y]\n00003000 t c [x]\n00004000 t d [y]", "FILE");
    REQUIRE(parsed);
    CHECK(parsed->modules.size() == 3);
    CHECK(parsed->lines[0].module == parsed->lines[2].module);
    CHECK(parsed->lines[1].module == parsed->lines[3].module);
    CHECK(parsed->lines[0].module != parsed->lines[1].module);
}

TEST_CASE("a table from another system: CRLF, empty lines, blanks at the end, no last line end") {
    const auto parsed = parse_symbol_text(
        "c0008000 T stext\r\n\r\n\nc0009000 T next \r\nc000a000 t m\t[mod]\r\nc000b000 T last", "FILE");
    REQUIRE(parsed);
    REQUIRE(parsed->lines.size() == 4);
    CHECK(parsed->lines[0].name_size == 5);
    CHECK(parsed->modules[parsed->lines[2].module] == "mod");
}

TEST_CASE("gas' local labels in the modules of an arm64 kernel are left out") {
    const auto parsed = parse_symbol_text(
        "ffffc00079c12340 r .L1447\x02"
        "1\t[9p]\nffffc00079c12350 t p9_get_tree\t[9p]\n"
        "ffffc00079c12360 r .L7\x01"
        "12\t[9p]\r\nffffc00079c12370 r .L0\x01",
        "FILE");
    REQUIRE(parsed);
    REQUIRE(parsed->lines.size() == 1);
    CHECK(parsed->lines[0].address == 0xffffc00079c12350);
    CHECK(parsed->modules[parsed->lines[0].module] == "9p");
    // Others with such a name are no label, and no table.
    CHECK(has(error_of("c0008000 T a\nc0009000 T b\x02"
                       "1\t[9p]\n")
                  .what,
              "line 2, column 13"));
    error_of(
        "c0009000 r .L1447\x1b"
        "1\t[9p]\n");
}

TEST_CASE("a file that is no symbol table is refused with line and column") {
    auto error = error_of("hello world\n", "notes.txt");
    CHECK(has(error.what, "notes.txt is not a symbol table"));
    CHECK(has(error.what, "line 1, column 1"));
    CHECK(has(error.hint, "/proc/kallsyms"));

    CHECK(has(error_of("c0008000 T a\nc0009000 T\n").what, "line 2, column 11"));
    CHECK(has(error_of("c0008000 T a\n\nc0009000 T b c\n").what, "line 3, column 13"));
    CHECK(has(error_of("c0008000 T a [x\n").what, "line 1"));
    CHECK(has(error_of("c0008000 T a []\n").what, "line 1"));
    CHECK(has(error_of("c0008000 TT a\n").what, "line 1, column 11"));
    CHECK(has(error_of("1234567 T a\n").what, "line 1, column 8"));
    CHECK(has(error_of("fffffffff81000000 T a\n").what, "line 1, column 17"));
}

TEST_CASE("a bad line reaches the terminal harmless and short") {
    const auto error = error_of("\x1b[31m" + std::string(5000, 'x'));
    CHECK_FALSE(has(error.what, "\x1b"));
    CHECK(error.what.size() < 250);
    error_of(std::string("c0008000 T a\x1b[31mb\n"));
    error_of(std::string_view("c0008000 T a\0b\n", 15));
}

TEST_CASE("a vmlinux and a compressed table are told apart from other nonsense") {
    CHECK(has(error_of("\x7f"
                       "ELF\x02\x01\x01")
                  .hint,
              "nm -n"));
    CHECK(has(error_of("\x1f\x8b\x08").hint, "decompress"));
}

TEST_CASE("Debian's stub is refused with the package that has the real table") {
    constexpr std::string_view stub =
        "ffffffffffffffff B The real System.map is in the linux-image-<version>-dbg package\n";
    const auto boot = error_of(stub, "/boot/System.map-6.12.117+deb13-amd64");
    CHECK(has(boot.what, "linux-image-6.12.117+deb13-amd64-dbg"));
    CHECK(has(boot.hint, "/proc/kallsyms"));
    CHECK(has(error_of(stub, "/usr/lib/modules/7.2.12+deb14-amd64/System.map").what,
              "linux-image-7.2.12+deb14-amd64-dbg"));
    CHECK(has(error_of(stub, "map").what, "linux-image-<version>-dbg"));
}

TEST_CASE("a kallsyms whose addresses the kernel hid is refused with the remedy") {
    const auto error = error_of("0000000000000000 T _stext\n0000000000000000 t x\t[virtio_net]\n");
    CHECK(has(error.what, "zero"));
    CHECK(has(error.hint, "root"));
    CHECK(has(error.hint, "kernel.kptr_restrict"));
}

TEST_CASE("an empty file is refused") {
    CHECK(has(error_of("").what, "is empty"));
    CHECK(has(error_of("\n\r\n").what, "is empty"));
}
