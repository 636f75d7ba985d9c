// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kaslr/drop_functions.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "table_of.h"

using namespace stapgen;
using namespace stapgen::symbols;

TEST_CASE("a drop may be anywhere in each function that drops packets in some kernel") {
    const auto table = table_of(
        "ffffffff81000000 T _stext\n"
        "ffffffff81000100 t tcp_v4_rcv\n"
        "ffffffff81000200 t schedule\n"
        "ffffffff81000300 t ip_rcv_core.isra.0\n"
        "ffffffff81000380 t ip_rcv_core_of_another_name\n"
        "ffffffff81000400 t tcp_v4_rcv.cold\n"
        "ffffffff81000419 T _etext\n"
        "ffffffffc0001000 t tcp_v4_rcv [copy]\n");
    const DropFunctions functions(table);
    REQUIRE(functions.size() == 3);
    CHECK(functions.ranges()[0].begin == 0xffffffff81000100);
    CHECK(functions.ranges()[0].end == 0xffffffff81000200);
    CHECK(functions.ranges()[1].begin == 0xffffffff81000300);
    CHECK(functions.ranges()[1].end == 0xffffffff81000380);
    CHECK(functions.ranges()[2].end == 0xffffffff81000419);
    CHECK_FALSE(functions.contains(0xffffffff810000ff));
    CHECK(functions.contains(0xffffffff81000100));
    CHECK(functions.contains(0xffffffff810001ff));
    CHECK_FALSE(functions.contains(0xffffffff81000200));
    CHECK_FALSE(functions.contains(0xffffffffc0001000));
    CHECK(functions.may_contain(0xffffffff81000210, "ip_rcv.isra.0"));
    CHECK_FALSE(functions.may_contain(0xffffffff81000210, "schedule"));
}

TEST_CASE("the compiled-in list is sorted, each once, in the names of the source") {
    const auto names = known_drop_functions();
    CHECK(names.size() > 700);
    CHECK(std::ranges::is_sorted(names));
    CHECK(std::ranges::adjacent_find(names) == names.end());
    for (const auto name : names)
        CHECK(source_name(name) == name);
    for (const auto* name :
         {"icmp_rcv", "tcp_v4_rcv", "__udp4_lib_rcv", "udp_rcv", "net_tx_action", "neigh_invalidate"}) {
        CHECK_MESSAGE(std::ranges::binary_search(names, std::string_view(name)), name);
    }
}

TEST_CASE("a name of the source has no suffix of the compiler") {
    CHECK(source_name("ip_rcv_core.isra.0") == "ip_rcv_core");
    CHECK(source_name("tcp_v4_rcv.cold") == "tcp_v4_rcv");
    CHECK(source_name("foo.constprop.0.isra.0.cold") == "foo");
    CHECK(source_name("tcp_v4_rcv") == "tcp_v4_rcv");
    CHECK(source_name(".local") == ".local");
    CHECK(source_name("").empty());
}
