// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/facts.h"

#include <doctest/doctest.h>

#include "fakes/system/fake_system.h"

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
    const auto left = host::left_modules(system);
    CHECK(left == std::vector<std::string>{"stap_0123456789a_4241", "stap_deadbeef"});
    const auto lines = host::left_module_warnings(system);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].ends_with("sudo staprun -d stap_0123456789a_4241"));
}

TEST_CASE("where modules cannot be listed none is called left") {
    CHECK(host::left_modules(host::FakeSystem{}).empty());
}

TEST_CASE("a module is loaded where a line begins with its whole name") {
    host::FakeSystem system;
    system.files["/proc/modules"] = "stap_1 360448 0 - Live 0x0 (OE)\nnf_tables 1 0 stap_2, Live 0x0\n";
    CHECK(host::is_loaded(system, "stap_1"));
    CHECK(host::is_loaded(system, "nf_tables"));
    CHECK_FALSE(host::is_loaded(system, "stap_"));
    CHECK_FALSE(host::is_loaded(system, "tables"));
    CHECK_FALSE(host::is_loaded(host::FakeSystem{}, "stap_1"));
}

TEST_CASE("network devices, memory and the own command are what the kernel's files say") {
    host::FakeSystem system;
    system.files["/sys/class/net/eth0/operstate"] = "up\n";
    system.files["/sys/class/net/lo/mtu"] = "65536\n";
    const auto devices = host::network_devices(system);
    REQUIRE(devices.size() == 2);
    CHECK(devices[0].name == "eth0");
    CHECK(devices[0].state == "up");
    CHECK(devices[1].name == "lo");
    CHECK(devices[1].state.empty());
    system.files["/proc/meminfo"] = "MemTotal: 4096 kB\nMemFree: 2048 kB\nHugePages: none\n";
    CHECK(host::memory_mib(system, "MemFree") == 2);
    CHECK(host::memory_mib(system, "HugePages") == 0);
    CHECK_FALSE(host::memory_mib(system, "Mem"));
    system.files["/proc/self/cmdline"] = std::string("stapgen\0list\0", 13);
    CHECK(host::own_command(system) == std::vector<std::string>{"stapgen", "list"});
}

TEST_CASE("modules are read with place and size") {
    host::FakeSystem system;
    system.files["/proc/modules"] =
        "nf_tables 389120 17 nft_ct,nft_chain_nat, Live 0xffffffffc0a31000\n"
        "stap_1 262144 3 - Live 0x0000000000000000 (OE)\nnoise\n";
    const auto modules = host::read_loaded_modules(system);
    REQUIRE(modules.size() == 2);
    CHECK(modules[0].name == "nf_tables");
    CHECK(modules[0].base == 0xffffffffc0a31000);
    CHECK(modules[0].size == 389120);
    CHECK(modules[1].name == "stap_1");
    CHECK_FALSE(modules[1].base);
}
