// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "fakes/system/fake_system.h"
#include "host/net_counters.h"

using namespace stapgen::host;

namespace {

FakeSystem with(std::string_view first_cpu, std::string_view second_cpu) {
    FakeSystem system;
    system.files["/proc/net/snmp"] = "Ip: Forwarding OutRequests\nIp: 1 1009\n";
    system.files["/proc/net/snmp6"] = "Ip6OutRequests                  \t17\n";
    system.files["/proc/stat"] = "cpu  1 2 3\nintr 4099 0 9\nctxt 70001\nbtime 5\nsoftirq 8009 0 1\n";
    const auto line = [](std::string_view processed, std::string_view cpu) {
        return std::string(processed) + " 0 0 0 0 0 0 0 0 0 0 0 " + std::string(cpu) + "\n";
    };
    system.files["/proc/net/softnet_stat"] = line(first_cpu, "00000000") + line(second_cpu, "00000003");
    return system;
}

}  // namespace

TEST_CASE("events are counted by IPv4's, IPv6's and softnet's counters, and by the sums of /proc/stat") {
    const auto events = read_event_counters(with("00000011", "0000000d"));
    CHECK(events.counters.at("Ip.OutRequests") == 1009);
    CHECK(events.counters.at("Ip6.OutRequests") == 17);
    CHECK(events.counters.at("softnet.processed") == 30);
    CHECK(events.counters.at("stat.intr") == 4099);
    CHECK(events.counters.at("stat.ctxt") == 70001);
    CHECK(events.counters.at("stat.softirq") == 8009);
    CHECK(events.received_by_cpu == std::map<std::uint32_t, std::uint32_t>{{0, 17}, {3, 13}});
    CHECK(read_event_counters(FakeSystem()).counters.empty());
}

TEST_CASE("the busiest CPU's part is of what was received meanwhile, also where a counter begins anew") {
    const auto before = read_event_counters(with("fffffff9", "0000000d"));
    const auto after = read_event_counters(with("00000014", "0000001a"));
    CHECK(busiest_part(before, after).value() == doctest::Approx(27.0 / 40));
    CHECK_FALSE(busiest_part(before, before));
    CHECK_FALSE(busiest_part({}, after));
    CHECK(events_between(before, after, "softnet.processed") == 40);
    CHECK(events_between(before, after, "Ip.NoSuchCounter") == 0);
}
