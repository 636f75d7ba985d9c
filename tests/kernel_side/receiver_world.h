// SPDX-License-Identifier: GPL-2.0-or-later
// A connection that receives, and its thread, for what its packets wait for.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "c/aggregate_rx.h"
#include "waits_world.h"

/// A thread whose time a scheduler keeps.
struct Thread {
    task_struct& task = shim_tasks[0];
    std::mt19937 random;
    s64 ran = 0, delayed = 0, slept = 0;

    explicit Thread(unsigned seed) : random(seed) {
        task = {};
        task.pid = task.tgid = 21;
        runs();
    }
    s64 some() { return s64(random() % 50000 + 1000); }
    void runs() {
        task.on_cpu = 1;
        task.sched_info.last_queued = 0;
        task.sched_info.last_arrival = task.se.exec_start = u64(shim_time);
        task.sched_info.pcount++;
    }
    void leaves() {
        task.on_cpu = 0;
        task.se.sum_exec_runtime += u64(shim_time) - task.se.exec_start;
    }
    void run_for(s64 ns) { shim_time += ns, ran += ns; }
    void wait_for_cpu(s64 ns) {
        task.sched_info.last_queued = u64(shim_time);
        shim_time += ns, delayed += ns;
    }
    void gets_cpu() {
        task.sched_info.run_delay += u64(shim_time) - task.sched_info.last_queued;
        runs();
    }
    void sleep_for(s64 ns) {
        task.nvcsw++;
        shim_time += ns, slept += ns;
    }
};

/// A connection that receives, by the thread 21.
struct Receiver {
    Socket socket;
    Thread thread{1};
    const void* fault = nullptr;
    std::vector<std::unique_ptr<Packet>> packets;

    Receiver() {
        socket.sk()->__sk_common.skc_state = TCP_ESTABLISHED;
        socket.sk()->sk_rcvlowat = 1;
    }
    tcp_sock& tcp() { return socket.tcp; }
    Packet& comes(u32 seq, u32 bytes) {
        Packet& packet = *packets.emplace_back(std::make_unique<Packet>(true, bytes, seq));
        stapgen_rx_at_driver(&packet.skb, &fault);
        stapgen_rx_at_ip(&packet.skb, &fault);
        stapgen_rx_at_transport(&packet.skb, 1, &fault);
        meets_socket(packet);
        return packet;
    }
    void meets_socket(Packet& packet) {
        stapgen_queue_rx_packet(socket.sk(), &packet.skb, 1, &fault);
        const auto* cb = TCP_SKB_CB(&packet.skb);
        if (!socket.sk()->sk_lock.owned && cb->seq == tcp().rcv_nxt) tcp().rcv_nxt = cb->end_seq;
    }
    /// The thread takes bytes up to there, at once: what each packet has waited for.
    std::vector<Parts> reads(u32 until, bool in_new_call = true) {
        std::vector<Parts> all;
        if (in_new_call) stapgen_note_rx_call();
        tcp().copied_seq = until;
        const s64 now = shim_now();
        while (const auto* packet = stapgen_pop_read(socket.key(), 0, 1, &fault)) {
            stapgen_waits waits;
            stapgen_divide_to_app(&waits, STAPGEN_THIS_CPU(stapgen_rx_popped_wait), packet->transport, now);
            all.push_back(parts_of(waits, rx_causes));
            CHECK(sum_of(all.back()) == now - packet->transport);
        }
        return all;
    }
    ~Receiver() { stapgen_erase_rx_queue(socket.key()); }
};
