// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <string>

#include "symbols/kaslr/drop_sites.h"
#include "table_of.h"

using namespace stapgen;
using namespace stapgen::symbols;

namespace {

SymbolTable x86_table() {
    return table_of(
        "ffffffff81000000 T _stext\n"
        "ffffffff81000000 T first\n"
        "ffffffff81000040 T second\n"
        "ffffffff81000080 T __x86_indirect_thunk_rax\n"
        "ffffffff810000a0 T _etext\n");
}

struct Code {
    std::string bytes = std::string(0xa0, '\x90');
    void put(std::size_t at, std::string_view what) { bytes.replace(at, what.size(), what); }
    [[nodiscard]] CodeRange range(std::uint64_t address) const {
        return {address, std::as_bytes(std::span(bytes)), false};
    }
};

constexpr std::uint64_t base_address = 0xffffffff81000000;

}  // namespace

TEST_CASE("x86-64: calls, jumps and conditional jumps to functions are found, forwards and backwards") {
    using namespace std::string_view_literals;
    Code code;
    code.put(0x05, "\xe8\x36\x00\x00\x00"sv);      // call second
    code.put(0x0a, "\xe8\x37\x00\x00\x00"sv);      // call second+6: no function begins there
    code.put(0x10, "\xe9\x2b\x00\x00\x00"sv);      // jmp second
    code.put(0x17, "\x0f\x84\x23\x00\x00\x00"sv);  // je second
    code.put(0x47, "\xe8\xb4\xff\xff\xff"sv);      // call first
    const auto range = code.range(base_address);
    const auto found = find_references(std::span(&range, 1), Architecture::x86_64, x86_table());
    REQUIRE(found.size() == 4);
    CHECK(found[0].target == base_address);
    CHECK(found[0].next == base_address + 0x4c);
    CHECK_FALSE(found[0].jump);
    CHECK(found[1].target == base_address + 0x40);
    CHECK(found[1].next == base_address + 0x0a);
    CHECK_FALSE(found[1].jump);
    CHECK(found[2].next == base_address + 0x15);
    CHECK(found[2].jump);
    CHECK(found[3].next == base_address + 0x1d);
    CHECK(found[3].jump);
}

TEST_CASE("code of the boot and code of other architectures have no references") {
    using namespace std::string_view_literals;
    Code code;
    code.put(0x05, "\xe8\x36\x00\x00\x00"sv);
    auto range = code.range(base_address);
    CHECK(find_references(std::span(&range, 1), Architecture::x86_64, x86_table()).size() == 1);
    CHECK(find_references(std::span(&range, 1), Architecture::other, x86_table()).empty());
    range.init = true;
    CHECK(find_references(std::span(&range, 1), Architecture::x86_64, x86_table()).empty());
}

TEST_CASE("an instruction that the end of the code cuts off is none") {
    using namespace std::string_view_literals;
    const auto cut = "\xe8\x3b\x00\x00"sv;
    const CodeRange range{base_address, std::as_bytes(std::span(cut)), false};
    CHECK(find_references(std::span(&range, 1), Architecture::x86_64, x86_table()).empty());
    const auto whole = "\xe8\x3b\x00\x00\x00"sv;
    const CodeRange complete{base_address, std::as_bytes(std::span(whole)), false};
    CHECK(find_references(std::span(&complete, 1), Architecture::x86_64, x86_table()).size() == 1);
}

TEST_CASE("x86-64: a call through a pointer returns behind the call that the kernel makes of it") {
    using namespace std::string_view_literals;
    Code code;
    code.put(0x10, "\xe8\x6b\x00\x00\x00"sv);          // call __x86_indirect_thunk_rax
    code.put(0x20, "\xff\xd0"sv);                      // call *%rax
    code.put(0x28, "\xff\x53\x18"sv);                  // call *0x18(%rbx)
    code.put(0x30, "\xff\x94\x24\x08\x00\x00\x00"sv);  // call *0x8(%rsp)
    code.put(0x38, "\xff\xe0"sv);                      // jmp *%rax
    code.put(0x60, "\xff\xd0"sv);                      // in second
    const auto range = code.range(base_address);
    const auto found =
        find_indirect_calls(std::span(&range, 1), Architecture::x86_64, x86_table(), base_address, base_address + 0x40);
    const std::vector<std::uint64_t> expected{base_address + 0x12, base_address + 0x13, base_address + 0x15,
                                              base_address + 0x22, base_address + 0x2b, base_address + 0x37};
    CHECK(found == expected);
}

TEST_CASE("arm64: bl calls, b jumps, blr calls through a pointer") {
    using namespace std::string_view_literals;
    const auto table = table_of(
        "ffff800080010000 T _stext\n"
        "ffff800080010000 T first\n"
        "ffff800080010040 T second\n"
        "ffff800080010080 D _etext\n");
    constexpr std::uint64_t start = 0xffff800080010000;
    Code code;
    code.put(0x04, "\x0f\x00\x00\x94"sv);  // bl second
    code.put(0x08, "\x0e\x00\x00\x14"sv);  // b second
    code.put(0x0c, "\x00\x01\x3f\xd6"sv);  // blr x8
    code.put(0x10, "\x11\x09\x3f\xd7"sv);  // blraa x8, x17
    code.put(0x14, "\x00\x01\x1f\xd6"sv);  // br x8
    code.put(0x48, "\xee\xff\xff\x97"sv);  // bl first
    const auto range = code.range(start);
    const auto found = find_references(std::span(&range, 1), Architecture::arm64, table);
    REQUIRE(found.size() == 3);
    CHECK(found[0].target == start);
    CHECK(found[0].next == start + 0x4c);
    CHECK(found[1].next == start + 0x08);
    CHECK_FALSE(found[1].jump);
    CHECK(found[2].next == start + 0x0c);
    CHECK(found[2].jump);
    const std::vector<std::uint64_t> expected{start + 0x10, start + 0x14};
    CHECK(find_indirect_calls(std::span(&range, 1), Architecture::arm64, table, start, start + 0x40) == expected);
}
