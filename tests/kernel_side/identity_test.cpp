// SPDX-License-Identifier: GPL-2.0-or-later
// A head, an skb or a task that is used again between any two events: nobody gets another one's times.
#include "tables_world.h"

namespace {

/// A packet of a socket, at a place where others were before.
struct Sent {
    Socket socket{80, 1};
    std::optional<Packet> memory;
    s64 called = 0;

    /// TCP has it: its payload is 0 of an ACK.
    void at_tcp(u32 seq, u32 payload) {
        memory.emplace(true, payload, seq);
        socket.tcp.write_seq = seq;
        if (payload != 0) stapgen_insert_tx_call(socket.sk(), 1, &fault);
        called = shim_time;
        sk_buff own = memory->skb;
        own.len = payload;
        stapgen_tx_at_tcp(socket.sk(), &own, 1, 0, &fault);
        memory->skb.sk = socket.sk();
    }
    void at_udp(sock* sk) {
        memory.emplace(false, 7);
        memory->skb.sk = sk;
        called = shim_now();
        stapgen_tx_at_udp(&memory->skb, called, 7, &fault);
    }
    void unseen(bool is_tcp, u32 seq, sock* sk) {
        memory.emplace(is_tcp, 9, seq);
        memory->skb.sk = sk;
    }
    void at_ip() { stapgen_tx_at_ip(&memory->skb, &fault); }
    void at_device() { stapgen_tx_at_device(&memory->skb, 1, &fault); }
    const stapgen_tx_packet* leaves() { return stapgen_pop_tx_packet(&memory->skb, &fault); }
};

}  // namespace

TEST_CASE("sent: a head that is used again after each event") {
    for (int events = 1; events <= 3; ++events) {
        for (const char* next : {"ack", "again", "segment", "datagram", "syn-ack", "same socket", "icmp", "arp"}) {
            CAPTURE(events);
            CAPTURE(next);
            begin();
            Sent sent;
            Socket other{81, 2};
            sent.at_tcp(1000, 13);
            REQUIRE(counted(STAPGEN_COUNT_tx_no_call) == 0);
            if (events > 1) sent.at_ip();
            if (events > 2) sent.at_device();
            shim_time += 7'000'000'000;
            const std::string kind = next;
            bool is_followed = false;
            if (kind == "ack") {
                sent.at_tcp(1013, 0);
            } else if (kind == "again") {
                sent.socket.tcp.snd_nxt = 1013;
                sent.at_tcp(1000, 13);
            } else if (kind == "segment") {
                sent.at_tcp(1013, 17);
                is_followed = true;
            } else if (kind == "datagram") {
                sent.at_udp(other.sk());
                is_followed = true;
            } else if (kind == "syn-ack") {
                sent.unseen(true, 1000, other.sk());
            } else if (kind == "same socket") {
                sent.unseen(true, 1013, sent.socket.sk());
            } else if (kind == "icmp") {
                sent.unseen(false, 0, nullptr);
                sent.memory->bytes[16 + 9] = 1;
            } else {
                sent.unseen(false, 0, nullptr);
                sent.memory->bytes[16] = 0;
            }
            if (kind != "arp") sent.at_ip();
            sent.at_device();
            const auto* left = sent.leaves();
            CHECK((left != nullptr) == is_followed);
            if (left != nullptr) CHECK(left->called == sent.called);
            // Before IP nothing says that it is not one which passes IP by.
            const bool is_known = kind != "arp" || events > 1;
            CHECK(counted(STAPGEN_COUNT_tx_mismatched) == is_known);
            CHECK(counted(STAPGEN_COUNT_tx_no_ip) == !is_known);
            CHECK(counted(STAPGEN_COUNT_tx_reported) == is_followed);
            CHECK(fault == nullptr);
        }
    }
}

TEST_CASE("sent: the head of a first piece, and an skb in a queue, that are used again") {
    for (const bool is_cut : {true, false}) {
        begin();
        Sent sent, next;
        Packet piece(true, 5, 1000);
        sent.at_tcp(1000, 13);
        sent.at_ip();
        sent.at_device();
        if (is_cut)
            stapgen_tx_cut(&sent.memory->skb, &piece.skb, &fault);
        else
            sent.memory->skb.head = piece.bytes, sent.memory->skb.data = piece.bytes + 16;
        // Gone unseen.
        Packet another(true, 5, 1001);
        std::memcpy(piece.bytes, another.bytes, 128);
        sk_buff& skb = is_cut ? piece.skb : sent.memory->skb;
        skb.len = 45;
        skb.data_len = 5;
        CHECK(stapgen_pop_tx_packet(&skb, &fault) == nullptr);
        CHECK(counted(STAPGEN_COUNT_tx_reported) == 0);
    }
}

TEST_CASE("sent: a tunnel in front of a packet, and its socket taken from it") {
    begin();
    Sent sent;
    sent.at_tcp(1000, 13);
    sent.at_ip();
    sent.at_device();
    auto& packet = *sent.memory;
    packet.skb.network_header = 200;
    packet.skb.end = 240;
    packet.skb.sk = nullptr;
    CHECK(stapgen_tx_at_ip(&packet.skb, &fault) == 0);
    sent.at_device();
    CHECK(sent.leaves() != nullptr);
    CHECK(counted(STAPGEN_COUNT_tx_mismatched) == 0);
}

TEST_CASE("received: a head that is used again after each event, its hand-over seen or not") {
    for (const bool is_tcp : {true, false}) {
        for (int events = 1; events <= 3; ++events) {
            for (int unseen = 0; unseen <= 3; ++unseen) {
                CAPTURE(is_tcp);
                CAPTURE(events);
                CAPTURE(unseen);
                begin();
                Socket socket{80, 1};
                std::optional<Packet> memory;
                const auto step = [&](int event) {
                    if (event == 0) stapgen_rx_at_driver(&memory->skb, &fault);
                    if (event == 1) stapgen_rx_at_ip(&memory->skb, &fault);
                    if (event == 2) stapgen_rx_at_transport(&memory->skb, is_tcp, &fault);
                    if (event == 3) stapgen_queue_rx_packet(socket.sk(), &memory->skb, is_tcp, &fault);
                };
                memory.emplace(is_tcp, 13, 500);
                for (int event = 0; event < events; ++event)
                    step(event);
                shim_time += 7'000'000'000;
                const s64 begun = shim_time;
                memory.emplace(is_tcp, 13, 513);
                socket.tcp.rcv_nxt = 513;
                for (int event = unseen; event <= 3; ++event)
                    step(event);
                socket.tcp.copied_seq = 526;
                const auto* read = stapgen_pop_read(is_tcp ? socket.key() : key_of(&memory->skb), !is_tcp, 1, &fault);
                CHECK((read != nullptr) == (unseen == 0));
                if (read != nullptr) CHECK(read->driver > begun);
                if (read != nullptr) CHECK(read->handed == read->driver);
                CHECK(fault == nullptr);
            }
        }
    }
}

TEST_CASE("received: an skb in a socket's queue that is used again") {
    begin();
    Socket socket{0};
    std::optional<Packet> memory;
    memory.emplace(false, 5);
    for (const bool is_request : {false, true}) {
        memory.emplace(false, 5);
        stapgen_rx_at_driver(&memory->skb, &fault);
        stapgen_rx_at_ip(&memory->skb, &fault);
        stapgen_rx_at_transport(&memory->skb, 0, &fault);
        if (is_request)
            stapgen_request_arrives(socket.sk(), &memory->skb, 0, &fault);
        else
            stapgen_queue_rx_packet(socket.sk(), &memory->skb, 0, &fault);
        memory.emplace(false, 5);
        if (is_request)
            stapgen_datagram_read(&memory->skb, 1, &fault);
        else
            CHECK(stapgen_pop_read(key_of(&memory->skb), 1, 1, &fault) == nullptr);
    }
    CHECK(counted(STAPGEN_COUNT_rx_reported) == 0);
    CHECK(counted(STAPGEN_COUNT_requests) == 1);
    CHECK(counted(STAPGEN_COUNT_request_unread) == 1);
}

TEST_CASE("answered: the head of an answer that is used again") {
    for (const bool is_same : {true, false}) {
        begin();
        Socket socket{0};
        Packet request(false, 5, 0, 4001, 11211);
        stapgen_rx_at_driver(&request.skb, &fault);
        stapgen_rx_at_ip(&request.skb, &fault);
        stapgen_rx_at_transport(&request.skb, 0, &fault);
        stapgen_request_arrives(socket.sk(), &request.skb, 0, &fault);
        stapgen_datagram_read(&request.skb, 1, &fault);
        std::optional<Packet> answer;
        answer.emplace(false, 9, 0, 11211, 4001);
        std::swap_ranges(answer->bytes + 28, answer->bytes + 32, answer->bytes + 32);
        answer->skb.sk = socket.sk();
        stapgen_datagram_answers(&answer->skb, shim_now(), &fault);
        if (!is_same) {
            answer.emplace(false, 10, 0, 11211, 4001);
            answer->skb.sk = socket.sk();
        }
        const auto queue = stapgen_reply_of(&answer->skb, &fault);
        REQUIRE(queue != 0);
        CHECK((stapgen_pop_answered(queue, &answer->skb, &fault) != nullptr) == is_same);
        CHECK(counted(STAPGEN_COUNT_request_reported) == is_same);
        CHECK(counted(STAPGEN_COUNT_request_mismatched) == !is_same);
    }
}

TEST_CASE("passed on: an skb and a head that are used again after each event") {
    for (int events = 1; events <= 3; ++events) {
        CAPTURE(events);
        begin();
        std::optional<Packet> memory;
        net_device out{};
        out.adj_list.lower = {&out.adj_list.lower, &out.adj_list.lower};
        memory.emplace(false, 17);
        stapgen_forward_at_driver(&memory->skb, 0, &fault);
        memory->skb.skb_iif = 2;
        if (events > 1) stapgen_forward_at_route(&memory->skb, &fault);
        if (events > 2) stapgen_forward_at_queue(&memory->skb, &fault);
        memory.emplace(false, 17);
        memory->skb.skb_iif = 2;
        memory->skb.dev = &out;
        stapgen_forward_at_output(&memory->skb, &fault);
        stapgen_forward_at_finish(&memory->skb, &fault);
        stapgen_forward_at_queue(&memory->skb, &fault);
        CHECK(stapgen_pop_forwarded(&memory->skb, 0, &fault) == nullptr);
        CHECK(stapgen_forward_dropped(&memory->skb, &fault) == 0);
        CHECK(counted(STAPGEN_COUNT_forward_reported) == 0);
        CHECK(counted(STAPGEN_COUNT_forward_seen) == (events > 1));
    }
}

TEST_CASE("threads: a task that is another one's") {
    begin();
    Socket socket{80, 1};
    stapgen_insert_call_of_thread(socket.key(), 0);
    stapgen_note_rx_call();
    stapgen_thread_receives(0);
    stapgen_thread_time time;
    const stapgen_thread_time read{shim_time, 0, 0, 0, 0, 0, 101, 0};
    stapgen_note_rx_reader(socket.key(), &read);
    CHECK(stapgen_look_at_thread(&time, &shim_tasks[0], 101) == 1);
    shim_tasks[0].pid = 102;
    CHECK(stapgen_pop_call_of_thread(socket.key()) == nullptr);
    CHECK(stapgen_look_at_thread(&time, &shim_tasks[0], 102) == 0);
    CHECK(stapgen_look_at_thread(&time, &shim_tasks[0], 101) == 0);
    CHECK(stapgen_rx_this_thread(shim_time)->called == 0);
    CHECK(stapgen_make_thread()->called == 0);
}
