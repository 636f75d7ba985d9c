#include <doctest/doctest.h>

#include "filter/filter.h"

using namespace stapgen;

namespace {

base::Error refusal(std::string_view text) {
    const auto address = filter::network_of(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().kind == base::ErrorKind::bad_input);
    return address.error();
}

}  // namespace

TEST_CASE("an address is a network of one, and a network is taken as it is") {
    const auto network = [](std::string_view text) { return filter::network_of(text).value(); };
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
