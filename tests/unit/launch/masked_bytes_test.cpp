// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/masked_bytes.h"

#include <doctest/doctest.h>

#include <cstring>

using namespace stapgen;
using namespace stapgen::launch;

namespace {

using Bytes = std::array<unsigned char, 16>;

/// So many bits, as a mask.
Bytes first_bits(int count) {
    Bytes mask{};
    for (int i = 0; i < count; ++i)
        mask[i / 8] = static_cast<unsigned char>(mask[i / 8] * 2 + 1);
    if (count % 8 != 0) mask[count / 8] = static_cast<unsigned char>(mask[count / 8] << (8 - count % 8));
    return mask;
}

Bytes bytes_of(std::string_view text) {
    Bytes bytes{};
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

}  // namespace

TEST_CASE("a name is compared up to its NUL, and cut as the kernel cuts it") {
    const auto lo = masked_name("lo");
    CHECK(lo.bytes == bytes_of("lo"));
    CHECK(lo.mask == bytes_of("\xff\xff\xff"));
    CHECK(masked_name("123456789012345").mask == first_bits(128));
    CHECK(masked_name("1234567890123456789").bytes == bytes_of("123456789012345"));
}

TEST_CASE("the bytes reach the script as four numbers in network byte order") {
    const auto globals = masked_name("mc-worker").globals("comm");
    REQUIRE(globals.size() == 4);
    const auto bytes_at = [&](const char* name) {
        const auto number = static_cast<std::uint64_t>(std::stoll(globals.at(name)));
        std::string bytes;
        for (int shift = 56; shift >= 0; shift -= 8)
            bytes += static_cast<char>(number >> shift);
        return bytes;
    };
    CHECK(bytes_at("stapgen_comm_a") == "mc-worke");
    CHECK(bytes_at("stapgen_comm_b") == std::string("r\0\0\0\0\0\0\0", 8));
    CHECK(globals.at("stapgen_comm_mask_a") == "-1");
    CHECK(bytes_at("stapgen_comm_mask_b") == std::string("\xff\xff\0\0\0\0\0\0", 8));
}

TEST_CASE("a mark is decimal or hexadecimal, with a mask or of all 32 bits") {
    const auto globals = [](std::string_view text) { return launch::masked_mark(text).value().globals(); };
    const auto expected = [](const char* mark, const char* mask) {
        return std::map<std::string, std::string>{{"stapgen_mark", mark}, {"stapgen_mark_mask", mask}};
    };
    CHECK(globals("17") == expected("17", "4294967295"));
    CHECK(globals("0x9999") == expected("39321", "4294967295"));
    CHECK(globals("0XABCDEF01") == expected("2882400001", "4294967295"));
    CHECK(globals("4294967295") == expected("4294967295", "4294967295"));
    CHECK(globals("0") == expected("0", "4294967295"));
    CHECK(globals("0x100/0xff00") == expected("256", "65280"));
    CHECK(globals("0/1") == expected("0", "1"));
}

TEST_CASE("what is no mark, or can match no packet or none but all, is refused with a hint") {
    const auto refusal = [](std::string_view text) { return launch::masked_mark(text).error(); };
    for (const char* text : {"", "x", "-1", "+1", "0x", "0x-1", "4294967296", "0x100000000", "1/", "/1", "1/x", "1/2/3",
                             " 1", "0x1 ", "1e3", "99999999999999999999"}) {
        CAPTURE(text);
        CHECK(refusal(text).what.find("is not a mark") != std::string::npos);
        CHECK(refusal(text).hint.starts_with("write MARK or MARK/MASK"));
    }
    CHECK(refusal("0/0").what == "a mask of 0 lets every packet pass");
    CHECK(refusal("0x9999/0xff").what == "'0x9999/0xff' has bits set beyond its mask, so no packet would match");
    CHECK(refusal("0x9999/0xff").hint == "the bits under the mask are 0x99/0xff");
    CHECK(refusal("\x1b[31m").what.find('\x1b') == std::string::npos);
}
