// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/drop_reasons.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

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

DropReasons of_btf(const char* release) {
    const auto bytes = base::read_file(fmt::format(TEST_DATA "/btf-{}-excerpt", release));
    REQUIRE(bytes);
    auto reasons = DropReasons::from_btf(std::as_bytes(std::span(*bytes)));
    REQUIRE(reasons);
    return std::move(*reasons);
}

DropReasons of_release(const char* release) {
    auto reasons = DropReasons::of_release(release);
    REQUIRE(reasons);
    return std::move(*reasons);
}

/// What the tracepoint lists, and what the enumeration has besides.
std::map<std::uint32_t, std::string> enumeration(const DropReasons& of_tracepoint) {
    auto names = of_tracepoint.all();
    std::erase_if(names, [](const auto& entry) { return entry.second == "MAX"; });
    names.emplace(0, "NOT_DROPPED_YET");
    names.emplace(1, "CONSUMED");
    return names;
}

}  // namespace

TEST_CASE("two kernels give one reason two numbers") {
    const auto trixie = of_kernel("6.12.117"), forky = of_kernel("7.2.12");
    CHECK(trixie.name(2) == "NOT_SPECIFIED");
    CHECK(trixie.name(3) == "NO_SOCKET");
    CHECK(trixie.name(10) == "UDP_CSUM");
    CHECK(trixie.name(91) == "QUEUE_PURGE");
    CHECK(trixie.all().size() == 103);
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
}

TEST_CASE("an entry without a name is left out") {
    const auto reasons = reasons_of(R"(print fmt: "%s", __print_symbolic(REC->reason, { 3, "" }, { 5, "NO_SOCKET" }))");
    CHECK(reasons.all().size() == 1);
    CHECK(reasons.describe(3) == "reason 3");
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

TEST_CASE("a kernel's type information and its tracepoint agree to the last name") {
    for (const auto* release : {"6.12.117", "7.2.12"}) {
        CAPTURE(release);
        const auto reasons = of_btf(release);
        CHECK(reasons.all() == enumeration(of_kernel(release)));
        CHECK(reasons.guess().empty());
    }
}

TEST_CASE("type information names the subsystems") {
    const auto trixie = of_btf("6.12.117"), forky = of_btf("7.2.12");
    CHECK(trixie.describe(0x10007) == "MAC80211_UNUSABLE reason 7");
    CHECK(trixie.describe(0x2000b) == "MAC80211_MONITOR reason 11");
    CHECK(trixie.describe(0x30003) == "OPENVSWITCH reason 3");
    CHECK(forky.describe(0x20003) == "OPENVSWITCH reason 3");
    CHECK(forky.describe(0x30003) == "QDISC reason 3");
    CHECK(forky.describe(0x40003) == "subsystem 4 reason 3");
    CHECK(forky.describe(251) == "reason 251");
    CHECK(trixie.describe(3) == "NO_SOCKET");
}

TEST_CASE("type information that is damaged or of a kernel without drop reasons is an error with a remedy") {
    // Documentation/bpf/btf.rst: magic, version, flags, length of the header, no types, one string, which is empty.
    constexpr unsigned char no_types[] = {0x9f, 0xeb, 1, 0, 24, 0, 0, 0, 0, 0, 0, 0, 0,
                                          0,    0,    0, 0, 0,  0, 0, 1, 0, 0, 0, 0};
    const auto none = DropReasons::from_btf(std::as_bytes(std::span(no_types)));
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == base::ErrorKind::bad_input);
    CHECK(none.error().what.find("no enum skb_drop_reason") != std::string::npos);
    CHECK_FALSE(none.error().hint.empty());
    const auto empty = DropReasons::from_btf({});
    REQUIRE_FALSE(empty);
    CHECK(empty.error().kind == base::ErrorKind::bad_input);
    CHECK(empty.error().what.find("cannot be read") != std::string::npos);
    CHECK_FALSE(empty.error().hint.empty());
}

TEST_CASE("the compiled-in names are those of two real kernels to the last name") {
    CHECK(of_release("6.12.117+deb13-amd64").all() == enumeration(of_kernel("6.12.117")));
    CHECK(of_release("7.2.12+deb14-amd64").all() == enumeration(of_kernel("7.2.12")));
    CHECK(of_release("7.2.12+deb14-amd64").describe(0x30003) == "QDISC reason 3");
}

TEST_CASE("a stable series renumbers, and the patch level is heeded") {
    CHECK(of_release("6.12.0").name(85) == "QUEUE_PURGE");
    CHECK(of_release("6.12.107+deb13-amd64").name(87) == "QUEUE_PURGE");
    CHECK(of_release("6.12.117+deb13-amd64").name(91) == "QUEUE_PURGE");
    CHECK(of_release("6.1.0-56-amd64").name(1) == "NOT_SPECIFIED");
    CHECK(of_release("6.1.0-56-amd64").name(2) == "NO_SOCKET");
    CHECK(of_release("6.12").name(3) == "NO_SOCKET");
    CHECK(of_release("6.12-rc3").name(3) == "NO_SOCKET");
}

TEST_CASE("compiled-in names say whose they are and how to be sure") {
    CHECK(of_release("6.12.117+deb13-amd64").guess() ==
          "reason names are those of Linux 6.12.115; 6.12.117+deb13-amd64 may number them otherwise: give its vmlinux "
          "or vmlinuz (--map), or record with -o, to be sure");
    CHECK(of_release("6.16.3").guess() ==
          "reason names are those of Linux 6.15.5, the nearest known before it; 6.16.3 may number them otherwise: give "
          "its vmlinux or vmlinuz (--map), or record with -o, to be sure");
    CHECK(of_release("6.6.1\x1b[2J").guess().find('\x1b') == std::string::npos);
    CHECK(of_kernel("6.12.117").guess().empty());
}

TEST_CASE("a release without a version or without drop reasons is an error with a remedy") {
    for (const auto* release : {"", "6", "6.", "linux", ".12", "6.12.", "6.12.x", "-6.12", "1234567890.1",
                                "6.1234567890", "5.16.20", "5.10.0-30-amd64", "5.14.0-503.el9.x86_64", "0.0.0"}) {
        CAPTURE(release);
        const auto reasons = DropReasons::of_release(release);
        REQUIRE_FALSE(reasons);
        CHECK(reasons.error().kind == base::ErrorKind::bad_input);
        CHECK_FALSE(reasons.error().hint.empty());
    }
    CHECK(DropReasons::of_release("5.14.0-503.el9").error().hint.find("--map") != std::string::npos);
}
