// SPDX-License-Identifier: GPL-2.0-or-later
// What segments waited for, as it is printed and aggregated: tapsets/c/print_tx.h, aggregate_tx.h.
#define STAPGEN_WAITS 1
#define STAPGEN_FIELDS 27

#include "sender_world.h"

// sender_world.h is first: the kernel's names would be in the way of C++'s.
#include "c/print_tx.h"

TEST_CASE("the parts of a record are those that are aggregated, behind the stages") {
    const void* fault = nullptr;
    Packet packet(true, 101, 0);
    auto& sent = *STAPGEN_THIS_CPU(stapgen_tx_popped);
    auto& waits = *STAPGEN_THIS_CPU(stapgen_tx_popped_waits);
    sent = {};
    sent.called = 1000, sent.at.since = 5000, sent.ip = 5100, sent.queued = 5300, sent.bytes = 101;
    waits.said = 0;
    stapgen_add_wait(&waits, STAPGEN_TX_WAIT_send_call, 107);
    stapgen_add_wait(&waits, STAPGEN_TX_WAIT_sending, 0);
    stapgen_add_wait(&waits, STAPGEN_TX_WAIT_nagle, 3893);
    stapgen_settle_waits(&waits, 4000, STAPGEN_TX_WAIT_undivided);
    std::memset(stapgen_stripes, 0, sizeof(stapgen_stripes));
    std::memset(&stapgen_printed, 0, sizeof(stapgen_printed));
    CHECK(stapgen_aggregate_left(0, 0, 5700) == 1);
    shim_printed.clear();
    stapgen_print_tx("tx", "", "", "\trest", &packet.skb, 5700, &fault);
    std::string none, zeros;
    for (int i = STAPGEN_TX_WAIT_nagle + 1; i < STAPGEN_TX_CAUSES; i++)
        none += "\t-", zeros += "\t0";
    CHECK(shim_printed.substr(shim_printed.find("\t101\t")) ==
          "\t101\t4000\t100\t-\t-\t200\t400\t107\t-\t-\t-\t3893" + none + "\trest\n");
    shim_printed.clear();
    for (int field = 0; field < STAPGEN_FIELDS; field++)
        stapgen_print_histogram("tx", std::to_string(field).c_str(), field);
    CHECK(shim_printed.find("sum\ttx\t6\t1\t107\t107\t107\n") != std::string::npos);
    CHECK(shim_printed.find("sum\ttx\t7\t") == std::string::npos);
    CHECK(shim_printed.find("sum\ttx\t9\t") == std::string::npos);
    CHECK(shim_printed.find("sum\ttx\t10\t1\t3893\t3893\t3893\n") != std::string::npos);
    shim_printed.clear();
    stapgen_print_splits("tx", "-", 0);
    CHECK(shim_printed.substr(shim_printed.find("\t1\t4000")) ==
          "\t1\t4000\t100\t0\t0\t200\t400\t107\t0\t0\t0\t3893" + zeros + "\n");
}

TEST_CASE("what does not add up, or has a part below 0, is not divided") {
    stapgen_waits waits;
    for (const s64 ns : {3999, 4001, -1}) {
        waits.said = 0;
        stapgen_add_wait(&waits, STAPGEN_TX_WAIT_nagle, ns);
        if (ns < 0) stapgen_add_wait(&waits, STAPGEN_TX_WAIT_send_call, 4001);
        stapgen_settle_waits(&waits, 4000, STAPGEN_TX_WAIT_undivided);
        CHECK(parts_of(waits, tx_causes) == Parts{{"undivided", 4000}});
    }
}
