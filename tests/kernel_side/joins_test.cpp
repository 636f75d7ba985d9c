// SPDX-License-Identifier: GPL-2.0-or-later
// What belongs together: hand-overs of one packet, a request and its answer, what a tunnel has in it.
#include "tables_world.h"

TEST_CASE("received: one that is handed over again begins with the first time") {
    for (const char* by : {"ifb", "tunnel", "new"}) {
        CAPTURE(by);
        begin();
        Socket socket{80, 1};
        Packet packet(true, 13, 0);
        stapgen_rx_at_driver(&packet.skb, &fault);
        const s64 first = shim_time;
        shim_time += 5'000'000;
        if (by == std::string("ifb")) {
            packet.skb.skb_iif = 3;
        } else if (by == std::string("tunnel")) {
            Packet inner(true, 13, 0);
            std::memcpy(packet.bytes + 80, inner.bytes + 16, 40);
            packet.skb.data = packet.bytes + 80;
            packet.skb.network_header = 80;
            packet.skb.transport_header = 100;
        }
        stapgen_rx_at_driver(&packet.skb, &fault);
        const s64 second = shim_time;
        stapgen_rx_at_ip(&packet.skb, &fault);
        stapgen_rx_at_transport(&packet.skb, 1, &fault);
        stapgen_queue_rx_packet(socket.sk(), &packet.skb, 1, &fault);
        socket.tcp.copied_seq = 13;
        const auto* read = stapgen_pop_read(socket.key(), 0, 1, &fault);
        REQUIRE(read != nullptr);
        const bool is_again = by != std::string("new");
        s64 stages[STAPGEN_RX_ROOM];
        stapgen_no_stages(stages, STAPGEN_RX_ROOM);
        stapgen_rx_stages(read, shim_time, 0, stages);
        CHECK(read->driver == (is_again ? first : second));
        CHECK(stages[STAPGEN_DRV_DRV] == (is_again ? second - first : STAPGEN_NO_STAGE));
        CHECK(stages[STAPGEN_DRV_IP] < 100);
    }
}

TEST_CASE("answered: which of several requests an answer is for") {
    struct Case {
        const char* what;
        std::vector<char> events;  // 'a' arrives, 'r' is read, 's' is answered, 'o' is read by another thread
        long reported, ambiguous, left;
    };
    const std::vector<Case> cases{
        {"one by one", {'a', 'r', 's', 'a', 'r', 's'}, 2, 0, 0},
        {"together", {'a', 'a', 'a', 'r', 'r', 'r', 's', 's', 's'}, 3, 0, 0},
        {"one unanswered", {'a', 'r', 'a', 'r', 's', 'a', 'r', 's'}, 1, 2, 0},
        {"several for one answer", {'a', 'a', 'r', 'r', 's', 'a', 'r', 's', 'a', 'r', 's'}, 2, 2, 0},
        {"by two threads", {'a', 'a', 'r', 'o', 's', 's'}, 0, 2, 0},
    };
    for (const auto& one : cases) {
        CAPTURE(one.what);
        begin();
        Socket socket{0};
        std::vector<std::unique_ptr<Packet>> packets;
        std::size_t unread = 0;
        for (const char event : one.events) {
            shim_time += 1000;
            if (event == 'a') {
                auto& packet = *packets.emplace_back(std::make_unique<Packet>(false, 5, 0, u16{4001}, u16{11211}));
                stapgen_rx_at_driver(&packet.skb, &fault);
                stapgen_rx_at_ip(&packet.skb, &fault);
                stapgen_rx_at_transport(&packet.skb, 0, &fault);
                stapgen_request_arrives(socket.sk(), &packet.skb, 0, &fault);
            } else if (event == 's') {
                Packet answer(false, 9, 0, 11211, 4001);
                std::swap_ranges(answer.bytes + 28, answer.bytes + 32, answer.bytes + 32);
                answer.skb.sk = socket.sk();
                stapgen_datagram_answers(&answer.skb, shim_now(), &fault);
                const auto queue = stapgen_reply_of(&answer.skb, &fault);
                if (queue != 0) stapgen_pop_answered(queue, &answer.skb, &fault);
            } else {
                REQUIRE(unread < packets.size());
                shim_tasks[0].pid = event == 'o' ? 102 : 101;
                stapgen_datagram_read(&packets[unread++]->skb, 1, &fault);
                shim_tasks[0].pid = 101;
            }
        }
        CHECK(counted(STAPGEN_COUNT_request_reported) == one.reported);
        CHECK(counted(STAPGEN_COUNT_request_ambiguous) == one.ambiguous);
        CHECK(rows_in_use(stapgen_requests) == one.left);
    }
}

TEST_CASE("received: what comes to a socket that unwraps is that until a thread reads it") {
    for (const bool is_kernels : {true, false}) {
        for (const bool is_read : {true, false}) {
            begin();
            udp_sock udp{};
            struct socket file {};
            auto* const sk = &udp.inet.sk;
            udp.encap_type = 2;
            sk->sk_socket = &file;
            if (!is_kernels) file.file = reinterpret_cast<struct file*>(&file);
            for (const bool is_request : {true, false}) {
                Packet packet(false, 5);
                stapgen_rx_at_driver(&packet.skb, &fault);
                stapgen_rx_at_ip(&packet.skb, &fault);
                stapgen_rx_at_transport(&packet.skb, 0, &fault);
                if (is_request)
                    stapgen_request_arrives(sk, &packet.skb, 0, &fault);
                else
                    stapgen_queue_rx_packet(sk, &packet.skb, 0, &fault);
                if (is_read && is_request) stapgen_datagram_read(&packet.skb, 1, &fault);
                if (is_read && !is_request)
                    CHECK((stapgen_pop_read(key_of(&packet.skb), 1, 1, &fault) != nullptr) == !is_kernels);
            }
            const long passed_on = is_read && !is_kernels;
            CHECK(counted(STAPGEN_COUNT_rx_encapsulated) == 2 - 2 * passed_on);
            CHECK(counted(STAPGEN_COUNT_rx_queued) == passed_on);
            CHECK(counted(STAPGEN_COUNT_rx_reported) == passed_on);
            CHECK(counted(STAPGEN_COUNT_requests) == passed_on);
            CHECK(stapgen_unread_requests() == 0);
        }
    }
}

TEST_CASE("passed on: neither by an ifb, which hands it over again, nor by tc's copy") {
    for (const bool is_copy : {true, false}) {
        begin();
        Packet packet(false, 17);
        net_device out{};
        const rtnl_link_ops ifb{"ifb"};
        out.adj_list.lower = {&out.adj_list.lower, &out.adj_list.lower};
        out.rtnl_link_ops = is_copy ? nullptr : &ifb;
        stapgen_forward_at_driver(&packet.skb, 0, &fault);
        const s64 first = shim_time;
        packet.skb.skb_iif = 2;
        packet.skb.dev = &out;
        sk_buff copy = packet.skb;
        const sk_buff& passes = is_copy ? copy : packet.skb;
        CHECK(stapgen_forward_at_queue(&passes, &fault) == STAPGEN_NOT_FORWARDED);
        CHECK(stapgen_pop_forwarded(&passes, 0, &fault) == nullptr);
        CHECK(counted(STAPGEN_COUNT_forward_seen) == 0);
        if (!is_copy) stapgen_forward_at_driver(&packet.skb, 0, &fault);
        stapgen_forward_at_ip(&packet.skb, &fault);
        stapgen_forward_at_route(&packet.skb, &fault);
        out.rtnl_link_ops = nullptr;
        stapgen_forward_at_queue(&packet.skb, &fault);
        const auto* left = stapgen_pop_forwarded(&packet.skb, 0, &fault);
        REQUIRE(left != nullptr);
        CHECK(left->driver <= first);
        CHECK(counted(STAPGEN_COUNT_forward_seen) == 1);
    }
}
