// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_world.h"

// request_world.h is first: it has what is modelled.
#include <doctest/doctest.h>

#include "model_runs.h"

TEST_CASE("requests: after each of random events the tables are as a plain model") {
    const auto counts = counts_of_runs<RequestWorld>(1000);
    for (const int what :
         {STAPGEN_COUNT_requests, STAPGEN_COUNT_request_no_driver, STAPGEN_COUNT_request_evicted,
          STAPGEN_COUNT_request_no_reply, STAPGEN_COUNT_request_unread, STAPGEN_COUNT_request_read_by_others,
          STAPGEN_COUNT_request_joined, STAPGEN_COUNT_request_ambiguous, STAPGEN_COUNT_request_reported})
        CHECK_MESSAGE(counts[what] > 3, std::string(stapgen_counter_names[what]));
}

TEST_CASE("requests: where only servers are wanted, connections that programs open have none") {
    const RequestWorld clean;
    const inet_bind_bucket chosen{-1}, bound{0};
    const auto begins = [](bool is_tcp, const inet_bind_bucket* port, u8 locks) {
        const auto before = stapgen_count_now(STAPGEN_COUNT_requests),
                   unwanted = stapgen_count_now(STAPGEN_COUNT_rx_unwanted);
        const void* fault = nullptr;
        Socket socket(7);
        socket.tcp.icsk_bind_hash = port;
        socket.sk()->sk_userlocks = locks;
        Packet packet(is_tcp, 3, 0, 4001);
        stapgen_rx_at_driver(&packet.skb, &fault);
        stapgen_rx_at_ip(&packet.skb, &fault);
        stapgen_rx_at_transport(&packet.skb, is_tcp, &fault);
        CHECK(stapgen_request_arrives(socket.sk(), &packet.skb, is_tcp, &fault) == 0);
        CHECK(fault == nullptr);
        const auto begun = stapgen_count_now(STAPGEN_COUNT_requests) - before;
        CHECK(begun + stapgen_count_now(STAPGEN_COUNT_rx_unwanted) - unwanted == 1);
        stapgen_socket_closes(socket.key());
        return begun == 1;
    };
    for (const bool is_only : {false, true}) {
        stapgen_servers_only = is_only ? 1 : 0;
        CHECK(begins(true, &chosen, 0) == !is_only);
        CHECK(begins(true, &bound, 0));
        CHECK(begins(true, nullptr, 0));
        CHECK(begins(false, nullptr, 0) == !is_only);
        CHECK(begins(false, nullptr, SOCK_BINDPORT_LOCK));
    }
    stapgen_servers_only = 0;
}
