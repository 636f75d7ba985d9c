// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "filter/filter.h"

using namespace stapgen;

namespace {

base::Error refusal(std::string_view text) {
    const auto address = filter::parse_network(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().kind == base::ErrorKind::bad_input);
    return address.error();
}

}  // namespace

TEST_CASE("an address is a network of one, and a network is taken as it is") {
    const auto network = [](std::string_view text) { return filter::parse_network(text).value().text(); };
    CHECK(network("127.0.0.1") == "127.0.0.1/32");
    CHECK(network("10.8.0.0/13") == "10.8.0.0/13");
    CHECK(network("0.0.0.0/0") == "0.0.0.0/0");
    CHECK(network("fe80::1") == "fe80::1/128");
    CHECK(network("fe80::/10") == "fe80::/10");
    CHECK(network("::/0") == "::/0");
    CHECK(network("::ffff:127.0.0.1") == "127.0.0.1/32");
    CHECK(network("::ffff:10.0.0.0/104") == "10.0.0.0/8");
    for (const char* text : {"127.0.0.1", "10.8.0.0/13", "0.0.0.0/0", "fe80::1", "fe80::/10", "::/0"})
        CHECK(filter::compile("net " + network(text)));
}

TEST_CASE("bits beyond the prefix are refused, and the network that was meant is named") {
    CHECK(refusal("10.1.2.3/8").what == "'10.1.2.3/8' has bits set beyond its prefix");
    CHECK(refusal("10.1.2.3/8").hint == "the network is 10.0.0.0/8; for one address omit the prefix");
    CHECK(refusal("fe80::1/64").hint == "the network is fe80::/64; for one address omit the prefix");
    CHECK(refusal("10.0.0.1/0").hint.starts_with("the network is 0.0.0.0/0;"));
}

TEST_CASE("what is no address and no prefix is refused") {
    for (const char* text :
         {"", "/8", "10", "10.0.0", "10.0.0.256", "localhost", "fe80::1%eth0", "10.0.0.1 ", "[::1]"}) {
        CAPTURE(text);
        CHECK(refusal(text).what.find("is not an address") != std::string::npos);
    }
    for (const char* text : {"10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/x", "10.0.0.0/-1", "10.0.0.0/8/8"}) {
        CAPTURE(text);
        CHECK(refusal(text).what.find("is not a prefix length") != std::string::npos);
    }
    CHECK(refusal("\x1b[31m").what.find('\x1b') == std::string::npos);
}

TEST_CASE("an address is in a network, of its own family only") {
    const auto address = [](std::string_view text) { return filter::parse_network(text).value().address; };
    const auto mapped = [&](std::string_view text) {
        std::array<unsigned char, 16> bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
        const auto ipv4 = address(text);
        std::copy_n(ipv4.begin(), 4, bytes.begin() + 12);
        return bytes;
    };
    const auto network = [](std::string_view text) { return filter::parse_network(text).value(); };
    CHECK(network("10.8.0.0/13").contains(mapped("10.15.255.255")));
    CHECK_FALSE(network("10.8.0.0/13").contains(mapped("10.16.0.0")));
    CHECK(network("0.0.0.0/0").contains(mapped("127.0.0.1")));
    CHECK_FALSE(network("0.0.0.0/0").contains(address("fe80::1")));
    CHECK(network("fe80::/10").contains(address("febf::1")));
    CHECK_FALSE(network("fe80::1").contains(address("fe80::2")));
    CHECK(network("::/0").contains(mapped("127.0.0.1")));
}
