#include "launch/left_modules.h"

#include <doctest/doctest.h>

using namespace stapgen;

TEST_CASE("a module of SystemTap that nobody reads is left, unless its staprun is at work on it") {
    host::FakeSystem system;
    system.files["/proc/4243"] = "";
    system.files["/proc/modules"] =
        "stap_0123456789a_4241 360448 0 - Live 0xffffffffc0a60000 (OE)\n"  // nobody is 4241
        "stap_0123456789a_4242 360448 3 - Live 0xffffffffc0b60000 (OE)\n"  // somebody reads it
        "stap_0123456789a_4243 360448 0 - Live 0xffffffffc0c60000 (OE)\n"  // is being loaded
        "stap_deadbeef 360448 0 - Live 0xffffffffc0d60000 (OE)\n"
        "stapling 16384 0 - Live 0xffffffffc0e60000\n"
        "virtio_net 77824 0 - Live 0xffffffffc0f60000\n"
        "stap_short\n";
    const auto left = launch::left_modules(system);
    CHECK(left == std::vector<std::string>{"stap_0123456789a_4241", "stap_deadbeef"});
    const auto lines = launch::told(left);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].ends_with("sudo staprun -d stap_0123456789a_4241"));
}

TEST_CASE("where modules cannot be listed none is called left") {
    CHECK(launch::left_modules(host::FakeSystem{}).empty());
}
