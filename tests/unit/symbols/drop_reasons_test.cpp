#include "symbols/drop_reasons.h"

#include <doctest/doctest.h>

#include "base/files.h"

using namespace stapgen;
using symbols::DropReasons;

namespace {

DropReasons reasons_of(std::string_view format) {
    auto reasons = DropReasons::parse(format);
    REQUIRE(reasons);
    return std::move(*reasons);
}

DropReasons of_kernel(const char* release) {
    const auto text = base::read_file(std::string(TEST_DATA "/kfree_skb-format-") + release);
    REQUIRE(text);
    return reasons_of(*text);
}

}  // namespace

TEST_CASE("two kernels give one reason two numbers") {
    const auto trixie = of_kernel("6.12.117"), forky = of_kernel("7.2.12");
    CHECK(trixie.name(2) == "NOT_SPECIFIED");
    CHECK(trixie.name(3) == "NO_SOCKET");
    CHECK(trixie.name(10) == "UDP_CSUM");
    CHECK(trixie.name(91) == "QUEUE_PURGE");
    CHECK(trixie.all().size() == 103);
    CHECK(trixie.skipped() == 0);
    CHECK(forky.name(3) == "NO_SOCKET");
    CHECK(forky.name(11) == "UDP_CSUM");
    CHECK(forky.name(103) == "QUEUE_PURGE");
    CHECK(forky.all().size() == 125);
}

TEST_CASE("a reason without a name keeps its number, and its subsystem") {
    const auto reasons = of_kernel("6.12.117");
    CHECK(reasons.describe(3) == "NO_SOCKET");
    CHECK_FALSE(reasons.name(1));
    CHECK(reasons.describe(1) == "reason 1");
    CHECK(reasons.describe(250) == "reason 250");
    CHECK(reasons.describe(0x10007) == "subsystem 1 reason 7");
    CHECK(reasons.describe(0xffff0000) == "subsystem 65535 reason 0");
}

TEST_CASE("values may be expressions, and names of constants are left out and counted") {
    const auto reasons = reasons_of(
        "print fmt: \"reason: %s\", __print_symbolic(REC->reason, { (1 << 16), \"MAC\" }, {0x20,\"HEX\"},\n"
        "\t{ ((1) << (17)), \"OVS\" } , { SKB_DROP_REASON_XDP, \"XDP\" }, { 7U, \"SEVEN\" }, { 1 << 99, "
        "\"FAR\" },"
        " { 4294967296, \"BIG\" })");
    CHECK(reasons.name(65536) == "MAC");
    CHECK(reasons.name(32) == "HEX");
    CHECK(reasons.name(131072) == "OVS");
    CHECK(reasons.name(7) == "SEVEN");
    CHECK(reasons.describe(65536) == "MAC");
    CHECK(reasons.all().size() == 4);
    CHECK(reasons.skipped() == 3);
}

TEST_CASE("the list of the reason is read, not another one beside it") {
    const auto reasons = reasons_of(
        "print fmt: \"%s %s %s\", __print_symbolic(REC->protocol, { 2048, \"IP\" }), "
        "__print_symbolic(REC->reason, { 2, \"NOT_SPECIFIED\" }), __print_symbolic(REC->x, { 9, \"NINE\" })");
    CHECK(reasons.all().size() == 1);
    CHECK(reasons.name(2) == "NOT_SPECIFIED");
}

TEST_CASE("a kernel without drop reasons is an error with an explanation") {
    for (const std::string_view format :
         {"", "print fmt: \"skbaddr=%p protocol=%u location=%p\", REC->skbaddr, REC->protocol, REC->location",
          "__print_symbolic(", "__print_symbolic(REC->reason,", "__print_symbolic(REC->reason, {",
          "__print_symbolic(REC->reason, { 1, \"", "__print_symbolic(REC->reason, { 1, \"X\"",
          "__print_symbolic(REC->reason, { , \"X\" })", "__print_symbolic(REC->reason, { (), \"X\" })",
          "__print_symbolic(REC->reason, { SKB_DROP_REASON_XDP, \"XDP\" })"}) {
        const auto reasons = DropReasons::parse(format);
        REQUIRE_FALSE(reasons);
        CHECK(reasons.error().kind == base::ErrorKind::bad_input);
        CHECK_FALSE(reasons.error().hint.empty());
    }
}
