// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/host_facts.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace stapgen::fleet;

namespace {

constexpr const char* hash = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

std::string printed_with(const std::string& key, const std::string& value) {
    std::string text = fmt::format("folder=/root/.cache/stapgen/fleet\nfile={}  rx-latency-1.ko\n", hash);
    for (const auto& [known, usual] : {std::pair<std::string, std::string>{"name", "web1"},
                                       {"release", "6.12.117+deb13-amd64"},
                                       {"machine", "x86_64"},
                                       {"disabled", "0"},
                                       {"boot", "0e9d6ab4-1c1c-4f5d-9e5f-5b8f2c3d4e5f"},
                                       {"notes", ""},
                                       {"stapgen", ""},
                                       {"stap", "/usr/bin/stap"},
                                       {"staprun", "/usr/bin/staprun"}})
        text += known + "=" + (known == key ? value : usual) + "\n";
    return text;
}

std::string refusal_of(const std::string& key, const std::string& value) {
    const auto facts = parse_facts(printed_with(key, value));
    return facts ? "" : facts.error().why;
}

}  // namespace

TEST_CASE("what a host says of itself is taken where each value has its form") {
    const auto facts = parse_facts(printed_with("", ""));
    REQUIRE(facts.has_value());
    CHECK(facts->release == "6.12.117+deb13-amd64");
    CHECK(facts->files.at("rx-latency-1.ko") == hash);
    CHECK(facts->can_load);
    CHECK(facts->stapgen.empty());
    CHECK_FALSE(parse_facts(printed_with("disabled", "1"))->can_load);
}

TEST_CASE("a release that stap would take for a folder or an option is none") {
    for (const std::string release : {"/home/other/tree", "../tree", ".hidden", "-v", "6.1 -g", "6.1;id", "6.1$(id)",
                                      "6.1\x1b[2J", "6.1\xc2\x9b", "a/b", "6.1'"}) {
        CAPTURE(release);
        CHECK(refusal_of("release", release).starts_with("its release is not valid: "));
    }
    CHECK(refusal_of("release", std::string(65, '6')).starts_with("its release is not valid: "));
    CHECK(refusal_of("release", std::string(64, '6')).empty());
}

TEST_CASE("no other value gets further than its form allows") {
    for (const auto* key : {"name", "machine", "boot"})
        CHECK(refusal_of(key, "a b").starts_with(fmt::format("its {} is not valid: ", key)));
    CHECK(refusal_of("machine", "") == "its machine is not valid: ''");
    for (const auto* key : {"stapgen", "stap", "staprun"}) {
        CHECK_FALSE(refusal_of(key, "stap").empty());
        CHECK_FALSE(refusal_of(key, "/usr/bin/\x1b]0;x\a").empty());
        CHECK_FALSE(refusal_of(key, "/" + std::string(4096, 'x')).empty());
    }
    // An ELF note whose build-id has 100 bytes.
    std::string note = "040000006400000003000000474e5500" + std::string(200, 'a');
    CHECK(refusal_of("notes", note) == "its build-id is not valid");
    CHECK(parse_facts("folder=\nrelease=6.1\n").error().why.starts_with("no POSIX shell"));
}

TEST_CASE("a reason is one printable line, and no longer than a row holds") {
    CHECK(short_reason(" gone\x1b[31m\n") == "gone\\x1b[31m");
    CHECK(short_reason(std::string(1 << 20, 'w')).size() < 400);
}
