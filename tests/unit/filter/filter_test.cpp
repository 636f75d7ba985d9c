// SPDX-License-Identifier: GPL-2.0-or-later
#include "filter/filter.h"

#include <doctest/doctest.h>

using namespace stapgen;

namespace {

std::string error_of(const std::string& expression) {
    const auto program = filter::compile(expression);
    return program ? "" : program.error().what;
}
std::string hint_of(const std::string& expression) {
    const auto program = filter::compile(expression);
    return program ? "" : program.error().hint;
}

}  // namespace

TEST_CASE("an expression becomes a word for each instruction") {
    const auto program = filter::compile("ip");
    REQUIRE(program);
    // ldh [12]; jeq #0x800 jt 2 jf 3; ret #262144; ret #0
    CHECK(filter::parameter_of(*program) ==
          "0x802800000000000c,0x8015000100000800,0x8006000000040000,0x8006000000000000");
    CHECK(filter::compile("tcp port 443")->size() == 20);
}

TEST_CASE("a filter that looks for VLAN tags says so in its first word") {
    const auto vlan = [](const std::string& expression) { return filter::compile(expression)->front() >> 62 & 1; };
    CHECK(vlan("vlan") == 1);
    CHECK(vlan("tcp port 443 or (vlan 10 and tcp port 443)") == 1);
    CHECK(vlan("tcp port 443") == 0);
    CHECK(vlan("port 33024") == 1);  // the number of the protocol, which is harmless
}

TEST_CASE("what is wrong is told in libpcap's words") {
    CHECK(error_of("tcp prot 443") == "'tcp prot 443': syntax error");
    CHECK(error_of("tcp port") == "'tcp port': syntax error");
    CHECK(error_of("host 10.0.0.1 and port 99999") ==
          "'host 10.0.0.1 and port 99999': illegal port number 99999 > 65535");
    CHECK(error_of("net 10.0.0.1/8") == "'net 10.0.0.1/8': non-network bits set in \"10.0.0.1/8\"");
    CHECK(error_of("arp and ip") == "'arp and ip': expression rejects all packets");
    CHECK(error_of("port \x1b[31m") == "'port \\x1b[31m': syntax error");
}

TEST_CASE("what the kernel side cannot heed is refused") {
    CHECK(error_of("ip6 protochain 58") ==
          "'ip6 protochain 58': protochain needs a loop, which a filter in the kernel cannot have");
    for (const std::string text : {"tcp and inbound", "outbound", "ifindex 3"})
        CHECK(error_of(text) == "'" + text + "': inbound, outbound and ifindex are not part of the packet");
    CHECK(error_of("") == "it lets every packet pass");
    CHECK(error_of("not (arp and tcp)") == "it lets every packet pass");
    std::string hosts = "host 10.0.0.1";
    for (int i = 2; i < 401; ++i)
        hosts += " or host 10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250);
    CHECK(error_of(hosts) == "it has 11938 instructions; at most 8192 can be optimized");
    CHECK(error_of(hosts + std::string(8192, ' ')) == "longer than 8192 bytes");
}

TEST_CASE("each error has a remedy") {
    CHECK(hint_of("tcp prot 443").find("pcap-filter(7)") != std::string::npos);
    CHECK(hint_of("ip broadcast") == "name the address: dst host 10.0.0.255");
    CHECK(hint_of("port nosuchport") == "write its number");
    CHECK(hint_of("tcp[13] = 2 and ip6").find("IPv4 alone") != std::string::npos);
}
