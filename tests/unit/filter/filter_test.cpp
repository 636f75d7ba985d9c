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

TEST_CASE("what is wrong is told with its column") {
    CHECK(error_of("tcp prot 443") == "syntax error at 'prot' (column 5)");
    CHECK(error_of("port 443 or or port 80") == "syntax error at 'or' (column 13)");
    CHECK(error_of("tcp port 443 443") == "syntax error at '443' (column 14)");
    CHECK(error_of("tcp port 443)") == "syntax error at ')' (column 13)");
    CHECK(error_of("(tcp[tcpflags] & tcp-foo != 0) and udp") == "syntax error at 'tcp-foo' (column 18)");
    CHECK(error_of("tcp ^ 3") == "syntax error at '^' (column 5)");
    CHECK(error_of("host 10.0.0.1 and port 99999") == "illegal port number 99999 > 65535 at '99999' (column 24)");
    CHECK(error_of("net 10.0.0.1/8") == "non-network bits set in \"10.0.0.1/8\" (column 5)");
    CHECK(error_of("tcp and port nosuchport") == "unknown port 'nosuchport' (column 14)");
    CHECK(error_of("arp and ip") == "expression rejects all packets at 'ip' (column 9)");
    CHECK(error_of("vxlan") == "syntax error at 'vxlan' (column 1)");
    CHECK(error_of("port \x1b[31m") == "syntax error at '\\x1b' (column 6)");
}

TEST_CASE("what lacks its end is told so") {
    for (const std::string text : {"tcp port", "tcp port 443 and", "(tcp port 443", "tcp[4", "(tcp[tcpflags] &",
                                   "ether host", "src", "not", "net 10.0.0.0 mask", "len", "(udp or (ip[8]"}) {
        CAPTURE(text);
        CHECK(error_of(text) == "'" + text + "' is incomplete: syntax error");
    }
}

TEST_CASE("what the kernel side cannot heed is refused") {
    CHECK(error_of("ip6 protochain 58") ==
          "'protochain' (column 5): it needs a loop, which a filter in the kernel cannot have");
    CHECK(error_of("tcp and inbound") == "'inbound' (column 9): that is not part of the packet");
    CHECK(error_of("ifindex 3") == "'ifindex' (column 1): that is not part of the packet");
    CHECK(error_of("") == "it lets every packet pass");
    CHECK(error_of("not (arp and tcp)") == "it lets every packet pass");
    std::string hosts = "host 10.0.0.1";
    for (int i = 2; i < 401; ++i)
        hosts += " or host 10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250);
    CHECK(error_of(hosts) == "it has 11938 instructions; at most 8192 can be optimized");
    CHECK(error_of(hosts + std::string(8192, ' ')) == "longer than 8192 bytes");
    CHECK(error_of(hosts.substr(0, 4000) + " or or tcp").find(" at 'or' (column ") != std::string::npos);
}

TEST_CASE("each error has a remedy") {
    CHECK(hint_of("tcp prot 443").find("pcap-filter(7)") != std::string::npos);
    CHECK(hint_of("ip broadcast") == "name the address: dst host 10.0.0.255");
    CHECK(hint_of("port nosuchport") == "write its number");
    CHECK(hint_of("tcp[13] = 2 and ip6").find("IPv4 alone") != std::string::npos);
}
