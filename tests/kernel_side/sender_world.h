// SPDX-License-Identifier: GPL-2.0-or-later
// A connection that sends, for what its segments wait for.
#pragma once

#include <memory>

#include "c/aggregate_tx.h"
#include "c/tx_wait.h"
#include "waits_world.h"

/// A connection that sends, as TCP would have it.
struct Sender {
    Socket socket;
    struct net network {};
    struct socket file {};
    std::unique_ptr<Packet> head;
    const void* fault = nullptr;

    explicit Sender(u64 cookie = 5) : socket(4001, cookie) {
        sk()->__sk_common.skc_net.net = &network;
        sk()->__sk_common.skc_state = TCP_ESTABLISHED;
        sk()->sk_socket = &file;
        network.ipv4.sysctl_tcp_limit_output_bytes = 1 << 20;
        tcp().snd_cwnd = 10;
        tcp().snd_wnd = 60000;
        queue(nullptr);
    }
    tcp_sock& tcp() { return socket.tcp; }
    sock* sk() { return socket.sk(); }
    void queue(sk_buff* skb) {
        auto* end = reinterpret_cast<sk_buff*>(&sk()->sk_write_queue);
        sk()->sk_write_queue = {skb ? skb : end, skb ? skb : end};
    }
    /// The next segment to be sent.
    void new_head(u32 bytes, u32 seq) {
        head = std::make_unique<Packet>(true, bytes, seq);
        head->skb.len = bytes;
    }
    void call(u32 bytes) {
        stapgen_begin_tx_call(sk(), 1, &fault);
        shim_time += 100;
        stapgen_tx_call_has_lock(sk(), 1, &fault);
        shim_time += 1000;
        new_head(bytes, tcp().write_seq);
        head->skb.truesize = 2000;
        tcp().write_seq += bytes;
        queue(&head->skb);
    }
    void attempt(u32 nonagle = 0, u32 push_one = 0) { stapgen_tx_attempt(sk(), 1448, nonagle, push_one, &fault); }
    void ends() { stapgen_tx_attempt_ends(sk(), &fault); }
    /// Sends the head; what that has waited for.
    Parts send() {
        stapgen_tx_at_tcp(sk(), &head->skb, 1, 0, &fault);
        auto* packet = (stapgen_tx_packet*)stapgen_find(stapgen_tx_packets, key_of(head->skb.head));
        REQUIRE(packet != nullptr);
        tcp().snd_nxt += head->skb.len;
        tcp().packets_out++;
        queue(nullptr);
        stapgen_waits waits;
        stapgen_tx_divide(&waits, packet);
        Parts parts = parts_of(waits, tx_causes);
        CHECK(sum_of(parts) == packet->at.since - packet->called);
        stapgen_erase(&packet->at, key_of(head->skb.head));
        return parts;
    }
    /// An attempt that ends without sending, 5,000 ns before the next one, which sends.
    Parts blocked(u32 nonagle = 0) {
        call(101);
        attempt(nonagle);
        shim_time += 700;
        ends();
        shim_time += 5000;
        attempt();
        return send();
    }
    ~Sender() { stapgen_erase_tx_calls(socket.key()); }
};
