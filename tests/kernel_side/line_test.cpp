// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of a line, beside those that the C library writes: tapsets/c/line.h.
#include <doctest/doctest.h>

#include <random>

#include "world.h"

// world.h is first: it has what the C is made of.
#include "c/ends.h"
#include "c/line.h"

namespace {

template <typename Put>
std::string text_of(Put put) {
    stapgen_line line;
    line.length = 0;
    put(&line);
    return {line.text, static_cast<std::size_t>(line.length)};
}

/// As many of each length as of any other.
u64 draw(std::mt19937_64& random) {
    return random() >> random() % 64;
}

template <typename... Values>
std::string printed(const char* format, Values... values) {
    char text[128];
    std::snprintf(text, sizeof(text), format, values...);
    return text;
}

}  // namespace

TEST_CASE("numbers are those that printf() writes") {
    std::mt19937_64 random(31);
    for (int i = 0; i < 100'003; ++i) {
        const u64 number = i < 10'007 ? static_cast<u64>(i) : draw(random);
        REQUIRE(text_of([&](auto* line) { stapgen_put_digits(line, number); }) == printed("%llu", number));
        REQUIRE(text_of([&](auto* line) { stapgen_put_hex(line, number); }) == printed("%llx", number));
        for (const u64 with_sign : {number, -number}) {
            REQUIRE(text_of([&](auto* line) { stapgen_put_number(line, static_cast<s64>(with_sign)); }) ==
                    printed("\t%lld", static_cast<s64>(with_sign)));
        }
    }
    for (u64 power = 1; power < 1ULL << 60; power *= 10) {
        for (const u64 number : {power - 1, power, power + 1})
            CHECK(text_of([&](auto* line) { stapgen_put_digits(line, number); }) == printed("%llu", number));
    }
    CHECK(text_of([](auto* line) { stapgen_put_digits(line, ~0ULL); }) == "18446744073709551615");
    CHECK(text_of([](auto* line) { stapgen_put_number(line, -9223372036854775807 - 1); }) == "\t-9223372036854775808");
}

TEST_CASE("ends of connections are those that printf() writes") {
    std::mt19937_64 random(31);
    const void* fault = nullptr;
    for (int i = 0; i < 10'007; ++i) {
        sock sk{};
        auto& common = sk.__sk_common;
        const u64 high = draw(random), low = draw(random);
        const auto ip = static_cast<u32>(draw(random));
        const auto local = static_cast<u16>(draw(random)), remote = static_cast<u16>(draw(random));
        common.skc_num = local;
        common.skc_dport = htons(remote);
        common.skc_rcv_saddr = htonl(ip);
        common.skc_daddr = htonl(~ip);
        for (int word = 0; word < 2; ++word) {
            const u64 part = htobe64(word == 0 ? high : low), other = ~part;
            std::memcpy(reinterpret_cast<char*>(&common.skc_v6_rcv_saddr) + 8 * word, &part, 8);
            std::memcpy(reinterpret_cast<char*>(&common.skc_v6_daddr) + 8 * word, &other, 8);
        }
        for (const bool is_ip4 : {false, true}) {
            common.skc_family = is_ip4 ? AF_INET : AF_INET6;
            stapgen_ends ends{};
            stapgen_read_ends(&sk, &ends, &fault);
            const auto text = text_of([&](auto* line) {
                stapgen_put_endpoint(line, ends.local, ends.is_ip4, ends.local_port, &fault);
                stapgen_put_endpoint(line, ends.remote, ends.is_ip4, ends.remote_port, &fault);
            });
            REQUIRE(text == (is_ip4 ? printed("\t0.ffff%08x:%u\t0.ffff%08x:%u", ip, local, ~ip, remote)
                                    : printed("\t%llx.%llx:%u\t%llx.%llx:%u", high, low, local, ~high, ~low, remote)));
        }
    }
    CHECK(fault == nullptr);
}

TEST_CASE("what a line has no room for is cut, or of a name left out: it is no whole record") {
    const void* fault = nullptr;
    const unsigned char address[16] = {0xfe, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    const u64 name[2] = {0x6161616161616161, 0x6161616161};
    const auto put_all = [&](stapgen_line* line) {
        stapgen_put_number(line, -1234567890123456789);
        stapgen_put_hex(line, 0x123456789abcdef0);
        stapgen_put_endpoint(line, address, 0, 65535, &fault);
        stapgen_put_endpoint(line, address, 1, 65535, &fault);
        stapgen_put_text(line, "\t-\t-");
    };
    const auto whole = text_of(put_all);
    for (std::size_t rest = 0; rest <= whole.size() + 1; ++rest) {
        stapgen_line line;
        line.length = static_cast<int>(sizeof(line.text) - 2 - rest);
        const auto from = static_cast<std::size_t>(line.length);
        put_all(&line);
        CHECK(std::string(line.text + from, line.text + line.length) == whole.substr(0, rest));
        stapgen_end_line(&line);
        CHECK(line.length <= static_cast<int>(sizeof(line.text)));

        line.length = static_cast<int>(from);
        stapgen_put_name(&line, name);
        CHECK(line.length == static_cast<int>(from + (rest < 61 ? 0 : 14)));
    }
}
