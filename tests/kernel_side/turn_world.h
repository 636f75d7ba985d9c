// SPDX-License-Identifier: GPL-2.0-or-later
// Threads of a host in the middle, which read requests and ask.
#pragma once

#define STAPGEN_BOTH_ENDS 1
#include "world.h"

// world.h is first: it has what the C is made of.
#include <array>
#include <string>

#include "c/ask.h"
#include "c/print_end.h"
#include "model.h"

/// A host in the middle: it serves port 11211, and asks servers of port 5432.
struct TurnWorld {
    static constexpr std::size_t many = 10;
    const void* fault = nullptr;
    std::array<Socket, many> clients;
    std::array<Socket, 3> servers;
    u32 next_seq = 1009;

    TurnWorld() {
        clear(stapgen_questions);
        clear(stapgen_requests);
        clear(stapgen_sockets);
        clear(stapgen_threads);
        clear(stapgen_handing);
        std::memset(stapgen_counts, 0, sizeof(stapgen_counts));
        std::memset(stapgen_batches, 0, sizeof(stapgen_batches));
        stapgen_keeps_lines = 0;
        shim_printed.clear();
        stapgen_server_port = 11211;
        stapgen_behind_port = 5432;
        stapgen_one_request_in = 1;
        stapgen_brief_below = 0;
        for (int i = 0; i < 3; ++i)
            shim_tasks[i] = {101 + i, 100, "middle"};
        shim_task = 0;
        shim_time = 1000;
        u64 cookie = 17;
        for (auto& client : clients) {
            client.becomes(40'001, ++cookie);
            client.tcp.snd_una = static_cast<u32>(cookie * 1000);
        }
        for (auto& server : servers) {
            server.becomes(5432, ++cookie);
            server.tcp.inet.inet_sport = htons(40'003);
        }
    }
    ~TurnWorld() { CHECK(fault == nullptr); }
    TurnWorld(const TurnWorld&) = delete;

    /// Bytes of a request come; their first sequence number.
    u32 comes(Socket& client) {
        stapgen_rx_packet packet{};
        packet.driver = packet.ip = packet.transport = ++shim_time;
        const auto id = stapgen_socket_id_of(client.sk(), &fault);
        stapgen_segment_arrives(client.key(), &id, &packet, next_seq += 7);
        return next_seq;
    }
    /// A receiving call: without bytes it has found none.
    void receives(Socket& socket, s64 bytes = 7) {
        ++shim_time;
        stapgen_thread_receives(socket.key());
        stapgen_request_read(bytes, 1, &fault);
    }
    u32 reads(Socket& client) {
        const auto seq = comes(client);
        receives(client);
        return seq;
    }
    void sends(Socket& socket) {
        ++shim_time;
        stapgen_request_sent(socket.key(), &fault);
        socket.tcp.write_seq += 11;
    }
    void reply_comes(Socket& server) {
        const auto at = stapgen_first_row(&stapgen_questions, server.key());
        stapgen_rx_packet packet{};
        packet.driver = packet.ip = ++shim_time;
        const auto id = stapgen_socket_id_of(server.sk(), &fault);
        stapgen_question_leaves(server.key(), server.tcp.write_seq);
        stapgen_question_is_answered(server.key(), &id, &packet, 9001, stapgen_questions_rows[at].of.end_seq);
    }
    void waits(s64 events = 1) { stapgen_thread_woken(events); }

    /// For whom the question of this socket is.
    stapgen_for of(Socket& server) {
        const auto at = stapgen_first_row(&stapgen_questions, server.key());
        REQUIRE(at != 0);
        return stapgen_questions_rows[at].of.asker.of;
    }
    bool is_for(Socket& server, Socket& client, u32 seq) {
        const auto found = of(server);
        return found.sk == client.key() && found.seq == seq && found.stream == client.tcp.snd_una;
    }
    bool is_for_none(Socket& server) { return of(server).sk == 0; }
    static bool hands_over() { return shim_printed.find("handed\t") != std::string::npos; }
};
