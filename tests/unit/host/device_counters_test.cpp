// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/files.h"
#include "base/text.h"
#include "host/net_counters.h"

using namespace stapgen;
using host::DeviceCounter;

namespace {

void append(std::string& bytes, const void* data, std::size_t size) {
    bytes.append(static_cast<const char*>(data), size);
    bytes.resize(NLMSG_ALIGN(bytes.size()));
}

void append_attribute(std::string& bytes, unsigned short type, const void* data, std::size_t size) {
    const rtattr head{static_cast<unsigned short>(sizeof head + size), type};
    append(bytes, &head, sizeof head);
    append(bytes, data, size);
}

std::string message(unsigned short type, const std::string& payload) {
    nlmsghdr head{};
    head.nlmsg_len = static_cast<std::uint32_t>(sizeof head + payload.size());
    head.nlmsg_type = type;
    std::string bytes;
    append(bytes, &head, sizeof head);
    return bytes + payload;
}

/// One device with `count` statistics, the first of which is `first`, each 2 larger than the one before.
std::string link(const std::string& name, std::uint64_t first, std::size_t count) {
    std::string payload;
    const ifinfomsg info{};
    append(payload, &info, sizeof info);
    append_attribute(payload, IFLA_IFNAME, name.c_str(), name.size() + 1);
    std::vector<std::uint64_t> statistics(count);
    for (std::size_t i = 0; i < count; ++i)
        statistics[i] = first + 2 * i;
    append_attribute(payload, IFLA_STATS64, statistics.data(), count * sizeof(std::uint64_t));
    return message(RTM_NEWLINK, payload);
}

std::vector<DeviceCounter> parsed(std::string_view bytes) {
    std::vector<DeviceCounter> counters;
    host::parse_link_answer(bytes, counters);
    return counters;
}

std::vector<std::string> line_of_lo() {
    const auto text = base::read_file("/proc/net/dev").value_or("");
    std::vector<std::string> words;
    for (const auto line : base::split(text, '\n')) {
        const auto found = base::words(line);
        if (!found.empty() && found[0] == "lo:") words.assign(found.begin(), found.end());
    }
    return words;
}

}  // namespace

TEST_CASE("each device has its statistics, as many as its kernel has and we know") {
    const auto counters = parsed(link("lo", 101, 24) + link("eth0.4094", 7, 30));
    REQUIRE(counters.size() == 24 + 25);
    CHECK(counters[0].name == "link.rx_packets");
    CHECK(counters[0].device == "lo");
    CHECK(counters[0].value == 101);
    CHECK(counters[23].name == "link.rx_nohandler");
    CHECK(counters[23].value == 147);
    CHECK(counters[48].name == "link.rx_otherhost_dropped");
    CHECK(counters[48].device == "eth0.4094");
    CHECK(counters[48].value == 55);
}

TEST_CASE("an answer says whether another one follows") {
    std::vector<DeviceCounter> counters;
    CHECK_FALSE(host::parse_link_answer(link("lo", 1, 24), counters));
    CHECK(host::parse_link_answer(link("eth0", 1, 24) + message(NLMSG_DONE, "...."), counters));
    CHECK(host::parse_link_answer(message(NLMSG_ERROR, std::string(20, '\0')), counters));
    CHECK(counters.size() == 48);
}

TEST_CASE("an answer that is cut anywhere gives what is whole in it") {
    const auto bytes = link("eth0", 3, 24);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        CHECK(parsed(std::string_view(bytes).substr(0, size)).empty());
    auto lying = bytes;
    const std::uint32_t length = 7;
    std::memcpy(lying.data(), &length, sizeof length);
    CHECK(parsed(lying).empty());
}

TEST_CASE("the statistics of lo are those that /proc/net/dev shows of it") {
    // Its columns; the others are sums of several statistics.
    const std::map<std::size_t, std::string> columns{{1, "link.rx_bytes"},
                                                     {2, "link.rx_packets"},
                                                     {9, "link.tx_bytes"},
                                                     {10, "link.tx_packets"},
                                                     {12, "link.tx_dropped"}};
    const auto before = line_of_lo();
    const auto counters = host::read_link_counters();
    const auto after = line_of_lo();
    if (before.size() < 13) {
        MESSAGE("skipped: this network namespace has no lo");
        return;
    }
    for (const auto& [column, name] : columns) {
        const auto same = std::ranges::find_if(
            counters, [&](const auto& counter) { return counter.device == "lo" && counter.name == name; });
        REQUIRE_MESSAGE(same != counters.end(), name);
        CHECK(same->value >= base::to_unsigned(before[column]).value());
        CHECK(same->value <= base::to_unsigned(after[column]).value());
    }
}

TEST_CASE("a device that is not there, or whose driver counts nothing, adds nothing") {
    std::vector<DeviceCounter> counters;
    host::add_ethtool_counters("no-such-device", counters);
    host::add_ethtool_counters("a-name-that-is-much-too-long-for-a-device", counters);
    host::add_ethtool_counters("", counters);
    CHECK(counters.empty());
}
