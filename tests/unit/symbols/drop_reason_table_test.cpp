// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/drop_reason_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace stapgen;
using symbols::LinuxVersion;
using symbols::reason_table;

namespace {

struct Known {
    LinuxVersion version;
    std::size_t names;
    std::size_t queue_purge;  // its number, 0 where it has none
    const char* last;
};

// Counted in the headers that the table was made of.
constexpr Known known_releases[] = {
    {{5, 17, 0}, 6, 0, "UDP_CSUM"},
    {{5, 18, 0}, 49, 0, "TAP_TXFILTER"},
    {{5, 19, 0}, 65, 0, "PKT_TOO_BIG"},
    {{6, 0, 0}, 65, 0, "PKT_TOO_BIG"},
    {{6, 1, 0}, 65, 0, "PKT_TOO_BIG"},
    {{6, 1, 192}, 66, 0, "TC_CHAIN_NOTFOUND"},
    {{6, 2, 0}, 69, 0, "FRAG_TOO_FAR"},
    {{6, 3, 0}, 76, 0, "IPV6_NDISC_NS_OTHERHOST"},
    {{6, 4, 0}, 76, 0, "IPV6_NDISC_NS_OTHERHOST"},
    {{6, 5, 0}, 76, 0, "IPV6_NDISC_NS_OTHERHOST"},
    {{6, 6, 0}, 78, 77, "QUEUE_PURGE"},
    {{6, 7, 0}, 84, 82, "TC_ERROR"},
    {{6, 8, 0}, 87, 82, "TC_RECLASSIFY_LOOP"},
    {{6, 9, 0}, 90, 85, "TC_RECLASSIFY_LOOP"},
    {{6, 12, 0}, 90, 85, "TC_RECLASSIFY_LOOP"},
    {{6, 12, 94}, 98, 85, "LOCAL_MAC"},
    {{6, 12, 107}, 100, 87, "LOCAL_MAC"},
    {{6, 12, 115}, 104, 91, "LOCAL_MAC"},
    {{6, 13, 0}, 103, 89, "ARP_PVLAN_DISABLE"},
    {{6, 14, 0}, 115, 99, "BRIDGE_INGRESS_STP_STATE"},
    {{6, 15, 0}, 117, 101, "BRIDGE_INGRESS_STP_STATE"},
    {{6, 17, 0}, 125, 104, "DUALPI2_STEP_DROP"},
    {{6, 18, 0}, 127, 104, "PSP_OUTPUT"},
    {{6, 19, 0}, 128, 105, "PSP_OUTPUT"},
    {{7, 0, 0}, 128, 105, "PSP_OUTPUT"},
    {{7, 1, 0}, 126, 103, "RECURSION_LIMIT"},
    {{7, 2, 0}, 126, 103, "RECURSION_LIMIT"},
    {{7, 3, 0}, 126, 103, "RECURSION_LIMIT"},
};

}  // namespace

TEST_CASE("every release's reasons are as many as in its header and end as they do there") {
    for (const auto& known : known_releases) {
        CAPTURE(known.version[0]);
        CAPTURE(known.version[1]);
        CAPTURE(known.version[2]);
        const auto table = reason_table(known.version);
        REQUIRE(table);
        CHECK(table->same_series);
        CHECK(table->names.size() == known.names);
        CHECK(table->names.back() == known.last);
        const auto purge = std::find(table->names.begin(), table->names.end(), "QUEUE_PURGE");
        CHECK(purge == (known.queue_purge == 0
                            ? table->names.end()
                            : table->names.begin() + static_cast<std::ptrdiff_t>(known.queue_purge)));
        CHECK(std::set(table->names.begin(), table->names.end()).size() == table->names.size());
    }
}

TEST_CASE("a version between two tables has the older one's") {
    CHECK_FALSE(reason_table({5, 16, 20}));
    CHECK_FALSE(reason_table({4, 18, 0}));
    CHECK(reason_table({5, 17, 13})->release == "5.17");
    CHECK(reason_table({6, 12, 93})->release == "6.12");
    CHECK(reason_table({6, 12, 106})->release == "6.12.94");
    CHECK(reason_table({6, 12, 999})->release == "6.12.115");
    const auto without_own = reason_table({6, 16, 3});
    CHECK(without_own->release == "6.15.5");
    CHECK_FALSE(without_own->same_series);
    CHECK(reason_table({41, 0, 0})->release == "7.3.4");
}

TEST_CASE("subsystems are numbered otherwise in other releases") {
    CHECK(reason_table({6, 3, 0})->subsystems.empty());
    CHECK(reason_table({6, 5, 0})->subsystems.size() == 3);
    CHECK(reason_table({6, 14, 0})->subsystems.at(3) == "OPENVSWITCH");
    CHECK(reason_table({6, 15, 0})->subsystems.at(2) == "OPENVSWITCH");
    CHECK(reason_table({7, 3, 0})->subsystems.at(3) == "QDISC");
}
