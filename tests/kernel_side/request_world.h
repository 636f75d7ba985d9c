// SPDX-License-Identifier: GPL-2.0-or-later
// Requests of a server, as the tables have them and as a plain model has them.
#pragma once

#ifndef STAPGEN_REQUESTS
#define STAPGEN_REQUESTS 5
#define STAPGEN_SOCKETS 7
#endif
#include "world.h"

// world.h is first: it has what the C is made of.
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "c/aggregate_request.h"
#include "c/print_request.h"
#include "model.h"
#include "request_model.h"

class RequestWorld : public Model {
  public:
    RequestWorld() {
        clear(stapgen_rx_packets);
        clear(stapgen_threads);
        clear(stapgen_datagrams);
        std::ranges::fill(stapgen_rx_skbs, stapgen_alias{});
        std::memset(&stapgen_rx_datagrams, 0, sizeof(stapgen_rx_datagrams));
        clear(stapgen_requests);
        clear(stapgen_sockets);
        std::ranges::fill(stapgen_answers, stapgen_alias{});
        std::memset(&stapgen_waking, 0, sizeof(stapgen_waking));
        for (int i = 0; i < 3; ++i)
            shim_tasks[i] = {101 + i, 100, "reader"};
    }

  private:
    static constexpr unsigned datagrams = 4, replies = 3;
    using Request = request_model::Request;
    using Last = request_model::Last;
    using Thread = request_model::Thread;
    using TcpState = request_model::TcpState;

    void happens(Bytes& bytes) override {
        const unsigned which = bytes.next(tcp_sockets);
        shim_task = static_cast<int>(bytes.next(3));
        const void* fault = nullptr;
        switch (bytes.next(11)) {
            case 0:
            case 1:
                segment_arrives(which, bytes);
                break;
            case 2:
                datagram_arrives(bytes);
                break;
            case 3:
                stapgen_thread_woken(7);
                threads_[shim_task] = {shim_time, 7, 0, -1};
                break;
            case 4:
                receives(which, bytes);
                break;
            case 5:
                if (bytes.next(2) != 0) receives(which, bytes);
                tcp_read(bytes);
                break;
            case 6:
                tcp_send(which, bytes);
                break;
            case 7:
                tcp_reply_leaves(which, bytes);
                break;
            case 8:
                datagram_read(bytes);
                break;
            case 9:
                datagram_answered(bytes);
                break;
            default:
                closes(which, bytes.next(2) != 0);
        }
        must(fault == nullptr, "what can be read was not read");
    }

    /// All of a packet's way to its socket; its driver may not have been seen. When it was at its driver and IP.
    std::pair<s64, s64> arrives(Packet& packet, bool is_tcp, bool is_seen, sock* sk) {
        const void* fault = nullptr;
        std::pair<s64, s64> way{};
        if (is_seen) {
            stapgen_rx_at_driver(&packet.skb, &fault);
            way.first = shim_time;
        }
        stapgen_rx_at_ip(&packet.skb, &fault);
        way.second = shim_time;
        stapgen_rx_at_transport(&packet.skb, is_tcp, &fault);
        counts_[STAPGEN_COUNT_rx_arrived]++;
        must(stapgen_request_arrives(sk, &packet.skb, is_tcp, &fault) == 0 && fault == nullptr, "it arrives");
        return way;
    }
    /// Room is made before it is known whether it is needed; what is not used stays.
    void make_room() {
        if (requests_.size() < STAPGEN_REQUESTS) return;
        std::set<u32> lists;
        auto oldest = requests_.end();
        for (auto row = requests_.begin(); row != requests_.end(); ++row) {
            if (!lists.insert(stapgen_hash(row->queue, STAPGEN_LIST_BITS)).second) continue;
            if (oldest == requests_.end() || row->ip < oldest->ip) oldest = row;
        }
        requests_.erase(oldest);
        counts_[STAPGEN_COUNT_request_evicted]++;
    }
    Request* last_of(unsigned long queue) { return request_model::last_of(requests_, queue); }
    Request* read_of(unsigned long queue) { return request_model::read_of(requests_, queue); }
    /// Of UDP, that which this thread answers.
    Request* answered_of(unsigned long queue) {
        auto* oldest = read_of(queue);
        if (oldest == nullptr || !request_model::are_ambiguous(requests_, queue, stapgen_this_thread_of()))
            return oldest;
        counts_[STAPGEN_COUNT_request_ambiguous] +=
            std::erase_if(requests_, [&](const Request& request) { return request_model::waits(request, queue); });
        return nullptr;
    }

    void segment_arrives(unsigned which, Bytes& bytes) {
        auto& socket = *sockets_[which];
        auto& of = tcp_[which];
        const bool is_again = bytes.next(5) == 0, is_seen = bytes.next(6) != 0;
        const u32 payload = 1 + bytes.next(3);
        Packet packet(true, payload, is_again ? of.rcv_nxt - payload : of.rcv_nxt);
        socket.tcp.rcv_nxt = of.rcv_nxt;
        const auto [driver, ip] = arrives(packet, true, is_seen, socket.sk());
        if (is_again) return;
        of.rcv_nxt += payload;
        const auto key = socket.key();
        if (driver != 0) make_room();
        // The table of sockets is larger than the sockets are many.
        last_[key] = {driver, ip, 0};
        auto* last = last_of(key);
        if (last == nullptr || last->returned != 0) {
            counts_[STAPGEN_COUNT_requests]++;
            if (driver == 0)
                counts_[STAPGEN_COUNT_request_no_driver]++;
            else
                requests_.push_back({key, driver, ip});
        }
        if (bytes.next(4) != 0) readable(key, key);
    }
    void readable(unsigned long sk, unsigned long queue) {
        stapgen_request_readable(sk);
        if (last_.contains(sk) && last_[sk].readable == 0) last_[sk].readable = shim_time;
        auto* last = last_of(queue);
        if (last != nullptr && last->returned == 0 && last->readable == 0) last->readable = shim_time;
    }

    void datagram_arrives(Bytes& bytes) {
        auto& packet = datagrams_[bytes.next(datagrams)];
        const auto* had = packet ? &packet->skb : nullptr;
        // A client in four: the port tells.
        packet.emplace(false, 3, 0, static_cast<u16>(4001 + bytes.next(4)));
        const bool is_seen = bytes.next(6) != 0;
        const void* fault = nullptr;
        const auto queue = stapgen_peer_queue(udp_.sk(), &packet->skb, STAPGEN_FROM_PEER, &fault);
        const auto [driver, ip] = arrives(*packet, false, is_seen, udp_.sk());
        if (had != nullptr) unread_datagram(had);
        counts_[STAPGEN_COUNT_requests]++;
        if (driver == 0) return void(counts_[STAPGEN_COUNT_request_no_driver]++);
        make_room();
        Request request{queue, driver, ip};
        request.skb = &packet->skb;
        request.id = packet->id();
        requests_.push_back(request);
        readable(udp_.key(), queue);
    }
    /// Its end was missed.
    void unread_datagram(const sk_buff* skb) {
        for (auto row = requests_.begin(); row != requests_.end(); ++row) {
            if (row->skb != skb) continue;
            requests_.erase(row);
            counts_[STAPGEN_COUNT_request_unread]++;
            return;
        }
    }

    void receives(unsigned which, Bytes& bytes) {
        auto& thread = threads_[shim_task];
        if (bytes.next(4) == 0) {
            stapgen_thread_receives(0);
            thread.reads_from = -1;
        } else {
            stapgen_thread_receives(sockets_[which]->key());
            thread.reads_from = static_cast<int>(which);
        }
        thread.called = shim_time;
    }
    void note_reader(Request& request) {
        const auto& thread = threads_[shim_task];
        request.called = thread.called;
        request.woken = thread.woken;
        request.events = thread.events;
        request.thread = stapgen_this_thread_of();
    }
    void tcp_read(Bytes& bytes) {
        auto& thread = threads_[shim_task];
        const bool is_target = bytes.next(4) != 0;
        const s64 got = bytes.next(4) == 0 ? -11 : 5;
        const void* fault = nullptr;
        const int from = thread.reads_from;
        const bool may_have = from >= 0 && stapgen_may_have(&stapgen_sockets, sockets_[from]->key());
        stapgen_request_read(got, is_target, &fault);
        must(fault == nullptr, "what can be read was not read");
        thread.reads_from = -1;
        if (from < 0 || got <= 0 || !may_have) return;
        const auto key = sockets_[from]->key();
        if (is_target) make_room();
        if (!last_.contains(key)) return;
        auto* last = last_of(key);
        Request* unread = last != nullptr && last->returned == 0 ? last : nullptr;
        if (!is_target) {
            if (unread == nullptr) return;
            counts_[STAPGEN_COUNT_request_read_by_others]++;
            std::erase_if(requests_, [&](const Request& request) { return &request == unread; });
            return;
        }
        Request* read = read_of(key);
        if (read != nullptr && unread != nullptr) {
            read->returned = shim_time;
            counts_[STAPGEN_COUNT_request_joined]++;
            std::erase_if(requests_, [&](const Request& request) { return &request == unread; });
            return;
        }
        if (read == nullptr) {
            read = unread;
            const auto& of = last_[key];
            if (read == nullptr && of.driver != 0 && of.ip != 0) {
                counts_[STAPGEN_COUNT_requests]++;
                requests_.push_back({key, of.driver, of.ip, of.readable});
                read = &requests_.back();
            }
            if (read != nullptr) note_reader(*read);
        }
        if (read != nullptr) read->returned = shim_time;
    }
    void tcp_send(unsigned which, Bytes& bytes) {
        auto& socket = *sockets_[which];
        auto& of = tcp_[which];
        socket.tcp.write_seq = of.written;
        const void* fault = nullptr;
        stapgen_request_sent(socket.key(), &fault);
        must(fault == nullptr, "what can be read was not read");
        if (auto* read = read_of(socket.key())) {
            read->sent = shim_time;
            read->reply_seq = of.written;
        }
        of.written += 1 + bytes.next(3);
    }
    /// All that was written, or a part of it.
    void tcp_reply_leaves(unsigned which, Bytes& bytes) {
        auto& socket = *sockets_[which];
        const u32 payload = 1 + bytes.next(4), end = tcp_[which].written - bytes.next(3);
        Packet packet(true, payload, end - payload);
        // Of what leaves, the header is there as a whole.
        packet.skb.sk = socket.sk();
        answers(socket.key(), packet, end);
    }
    void answers(unsigned long queue, const Packet& packet, u32 end) {
        const void* fault = nullptr;
        const auto found = stapgen_reply_of(&packet.skb, &fault);
        const bool is_udp = (queue & 1) != 0;
        // Another queue's list may be that of UDP's socket, which has no requests itself.
        if (found == 0 || found == udp_.key()) {
            must(last_of(queue) == nullptr || is_udp, "a reply is none");
            return;
        }
        must(found == queue, "a reply of another queue");
        for (;;) {
            const auto first = std::ranges::find_if(requests_, [&](const Request& request) {
                return request.queue == queue && (!is_udp || request.answer == &packet.skb);
            });
            const auto* popped = stapgen_pop_answered(queue, &packet.skb, &fault);
            const bool is_answered =
                first != requests_.end() && first->sent != 0 && (is_udp || s32(end - first->reply_seq) > 0);
            must((popped != nullptr) == is_answered, "answered, or not");
            if (popped == nullptr) return;
            must(popped->driver == first->driver && popped->ip == first->ip && popped->readable == first->readable &&
                     popped->woken == first->woken && popped->called == first->called &&
                     popped->returned == first->returned && popped->sent == first->sent &&
                     popped->events == first->events,
                 "a request is answered with another's times");
            s64 stages[STAPGEN_RECORD_FIELDS], sum = 0;
            stapgen_request_stages(popped, shim_time + 1, stages);
            for (int i = 0; i < STAPGEN_TOTAL; ++i)
                sum += stages[i] == STAPGEN_NO_STAGE ? 0 : stages[i];
            must(sum == stages[STAPGEN_TOTAL], "the stages are not the total");
            requests_.erase(first);
            counts_[STAPGEN_COUNT_request_reported]++;
        }
    }

    void datagram_read(Bytes& bytes) {
        const auto& packet = datagrams_[bytes.next(datagrams)];
        if (!packet) return;
        const bool is_target = bytes.next(4) != 0, is_dropped = bytes.next(4) == 0;
        if (is_dropped) {
            stapgen_end_datagram(key_of(&packet->skb));
            return unread_datagram(&packet->skb);
        }
        const void* fault = nullptr;
        stapgen_datagram_read(&packet->skb, is_target, &fault);
        must(fault == nullptr, "what can be read was not read");
        for (auto row = requests_.begin(); row != requests_.end(); ++row) {
            if (row->skb != &packet->skb) continue;
            if (is_target) {
                note_reader(*row);
                row->returned = shim_time;
                row->skb = nullptr;
            } else {
                counts_[STAPGEN_COUNT_request_read_by_others]++;
                requests_.erase(row);
            }
            return;
        }
    }
    /// An answer that was dropped leaves its place to another one, or to a packet of another socket.
    void datagram_answered(Bytes& bytes) {
        auto& reply = replies_[bytes.next(replies)];
        const unsigned what = bytes.next(5);
        if (what == 0 && reply) return reply_leaves(*reply);
        const u16 to = static_cast<u16>(4001 + bytes.next(4));
        reply.emplace(false, 3, 0, 11211, to);
        auto& packet = *reply;
        std::swap_ranges(packet.bytes + 28, packet.bytes + 32, packet.bytes + 32);
        const void* fault = nullptr;
        if (what == 1) {
            packet.skb.sk = sockets_[0]->sk();
            const auto found = stapgen_reply_of(&packet.skb, &fault);
            must(found == 0 || found == sockets_[0]->key(), "another socket's packet is a reply");
            reply.reset();
            return;
        }
        packet.skb.sk = udp_.sk();
        const auto queue = stapgen_peer_queue(udp_.sk(), &packet.skb, STAPGEN_TO_PEER, &fault);
        const s64 called = shim_time;
        stapgen_datagram_answers(&packet.skb, called, &fault);
        must(fault == nullptr, "what can be read was not read");
        counts_[STAPGEN_COUNT_request_no_reply] += std::erase_if(
            requests_, [&](const Request& request) { return request.queue == queue && request.answer == &packet.skb; });
        if (auto* read = answered_of(queue)) {
            read->sent = called;
            read->answer = &packet.skb;
        }
        if (what != 2) reply_leaves(packet);
    }
    void reply_leaves(const Packet& packet) {
        const void* fault = nullptr;
        answers(stapgen_peer_queue(udp_.sk(), &packet.skb, STAPGEN_TO_PEER, &fault), packet, 0);
    }

    void closes(unsigned which, bool is_seen) {
        auto& socket = *sockets_[which];
        const auto key = socket.key();
        if (!last_.contains(key)) return;
        for (const auto& request : requests_)
            if (request.queue == key)
                counts_[request.returned != 0 ? STAPGEN_COUNT_request_no_reply : STAPGEN_COUNT_request_unread]++;
        std::erase_if(requests_, [&](const Request& request) { return request.queue == key; });
        last_.erase(key);
        tcp_[which] = {};
        if (is_seen) return stapgen_socket_closes(key);
        // The next one at its address ends what is there of it.
        becomes_another(socket);
        const void* fault = nullptr;
        const auto id = stapgen_socket_id_of(socket.sk(), &fault);
        stapgen_lock_queue(&stapgen_requests, key);
        must(stapgen_find_socket(key, &id) == 0, "another connection's times are its own");
        stapgen_unlock_queue(&stapgen_requests, key);
    }

    void check() override {
        for (int what = 0; what < STAPGEN_COUNTS; ++what)
            must(stapgen_count_now(what) == counts_[what], stapgen_counter_names[what]);
        must(rows_in_use(stapgen_requests) == requests_.size(), "another number of requests goes on");
        must(rows_in_use(stapgen_sockets) == last_.size(), "another number of sockets is known");
        must(stapgen_unread_requests() == std::ranges::count(requests_, 0, &Request::returned), "unread ones");
        auto ended = static_cast<long>(requests_.size());
        for (const int what : request_model::ends)
            ended += count(what);
        must(count(STAPGEN_COUNT_requests) == ended, "seen is not what became of it");
    }

    std::array<TcpState, tcp_sockets> tcp_{};
    std::array<std::optional<Packet>, datagrams> datagrams_;
    std::array<std::optional<Packet>, replies> replies_;
    Socket udp_{1};
    std::array<Thread, 3> threads_{};
    std::map<unsigned long, Last> last_;
    std::deque<Request> requests_;  ///< the oldest first
};
