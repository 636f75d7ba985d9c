// SPDX-License-Identifier: GPL-2.0-or-later
// Sent packets and the calls that wrote them, as the tables have them and as a plain model has them.
#pragma once

#ifndef STAPGEN_TX_CALLS
#define STAPGEN_TX_CALLS 13
#endif
#include "world.h"

// world.h is first: it has what the C is made of.
#include <array>
#include <deque>
#include <optional>

#include "c/aggregate_tx.h"
#include "c/print_tx.h"
#include "model.h"

class TxWorld : public Model {
  public:
    TxWorld() {
        clear(stapgen_tx_packets);
        clear(stapgen_calls_of_threads);
        clear(stapgen_tx_calls);
        std::ranges::fill(stapgen_cut_heads, stapgen_alias{});
        std::ranges::fill(stapgen_queued_skbs, stapgen_alias{});
        for (int i = 0; i < 3; ++i)
            shim_tasks[i] = {101 + i, 100, "writer"};
    }

  private:
    static constexpr unsigned slots = 6;
    struct Call {
        unsigned long sk;
        u32 seq;
        s64 called, thread;
    };
    enum class Place { nowhere, in_tcp, in_ip, in_device };
    /// A segment or datagram on its way: TCP's own skb, the one that goes down with the same head, and what it may
    /// become.
    struct Slot {
        std::optional<Packet> own, down, other;
        Place place = Place::nowhere;
        bool is_followed = false, is_datagram = false, is_wanted_device = false, is_cut = false, is_moved = false;
        s64 called = 0, transport = 0, ip = 0, queued = 0, thread = 0;

        /// The skb that the driver gets.
        sk_buff* last() { return is_cut ? &other->skb : &down->skb; }
    };
    struct TcpState {
        u32 written = 0xfffffffa, sent = 0xfffffffa;  // it wraps soon
    };

    void happens(Bytes& bytes) override {
        const unsigned which = bytes.next(tcp_sockets);
        Slot& slot = slots_[bytes.next(slots)];
        shim_task = static_cast<int>(bytes.next(3));
        const void* fault = nullptr;
        switch (bytes.next(9)) {
            case 0:
                calls(which, bytes);
                break;
            case 1:
            case 2:
                sends_segment(slot, which, bytes);
                break;
            case 3:
                sends_datagram(slot, bytes);
                break;
            case 4:
                if (slot.place != Place::in_tcp) break;
                must(stapgen_tx_at_ip(&slot.down->skb, &fault) == slot.is_followed, "followed, or not, at IP");
                slot.ip = shim_time;
                slot.place = Place::in_ip;
                break;
            case 5:
                // A device on top of others hands it on: the last one counts.
                if (slot.place != Place::in_ip && (slot.place != Place::in_device || slot.is_cut)) break;
                {
                    const bool is_wanted = bytes.next(4) != 0;
                    stapgen_tx_at_device(slot.last(), is_wanted, &fault);
                    slot.queued = shim_time;
                    slot.is_wanted_device |= is_wanted;
                    slot.place = Place::in_device;
                }
                break;
            case 6:
                changes(slot, bytes);
                break;
            case 7:
                reaches_driver(slot);
                break;
            default:
                if (bytes.next(3) == 0)
                    closes(which, bytes.next(2) != 0);
                else
                    is_dropped(slot);
        }
        must(fault == nullptr, "what can be read was not read");
    }

    void calls(unsigned which, Bytes& bytes) {
        auto& of = tcp_[which];
        auto& socket = *sockets_[which];
        const bool is_wanted = bytes.next(4) != 0;
        socket.tcp.write_seq = of.written;
        const void* fault = nullptr;
        const bool others = std::ranges::any_of(calls_, [&](const Call& call) { return call.sk == socket.key(); });
        // One that is not wanted looks for room where the list of its socket may have any.
        if ((is_wanted || stapgen_may_have(&stapgen_tx_calls, socket.key())) && calls_.size() == STAPGEN_TX_CALLS) {
            calls_.pop_front();
        }
        stapgen_insert_tx_call(socket.sk(), is_wanted, &fault);
        const bool still = std::ranges::any_of(calls_, [&](const Call& call) { return call.sk == socket.key(); });
        if (is_wanted || (others && still))
            calls_.push_back({socket.key(), of.written, shim_time, is_wanted ? stapgen_this_thread_of() : 0});
        of.written += 1 + bytes.next(5);
    }

    void begins(Slot& slot, bool is_tcp, u32 payload, u32 seq) {
        std::destroy_at(&slot);
        std::construct_at(&slot);
        slot.own.emplace(is_tcp, payload, seq);
        slot.down.emplace(is_tcp, payload, seq);
        slot.down->skb.head = slot.own->skb.head;
        slot.down->skb.data = slot.own->skb.data;
        slot.down->skb.dev = &slot.down->device;
        slot.place = Place::in_tcp;
    }

    void sends_segment(Slot& slot, unsigned which, Bytes& bytes) {
        if (slot.place != Place::nowhere) return;
        auto& of = tcp_[which];
        auto& socket = *sockets_[which];
        const bool is_again = bytes.next(6) == 0, is_wanted = bytes.next(6) != 0, has_target = bytes.next(2) != 0;
        u32 payload = bytes.next(4);
        if (payload > of.written - of.sent) payload = of.written - of.sent;
        const u32 seq = is_again ? of.sent - 3 : of.sent;
        begins(slot, true, payload, seq);
        auto& own = slot.own->skb;
        own.len = payload;  // its headers are not there yet
        socket.tcp.snd_nxt = of.sent;
        const void* fault = nullptr;
        stapgen_tx_at_tcp(socket.sk(), &own, is_wanted, has_target, &fault);
        must(fault == nullptr, "what can be read was not read");
        if (payload == 0 || is_again) {
            counts_[payload == 0 ? STAPGEN_COUNT_tx_acks : STAPGEN_COUNT_tx_retransmits]++;
            return;
        }
        counts_[STAPGEN_COUNT_tx_segments]++;
        of.sent += payload;
        std::optional<Call> call;
        bool any = false;
        for (const auto& of_socket : calls_) {
            if (of_socket.sk != socket.key()) continue;
            any = true;
            if (s32(of_socket.seq - seq) <= 0) call = of_socket;
        }
        // Older ones are done with.
        std::erase_if(calls_, [&](const Call& old) {
            return call && old.sk == call->sk && s32(old.seq - call->seq) <= 0 && old.called < call->called;
        });
        if (!is_wanted)
            counts_[STAPGEN_COUNT_tx_unwanted]++;
        else if (has_target && (!any || (call && call->thread == 0)))
            counts_[STAPGEN_COUNT_tx_filtered]++;
        else if (!call)
            counts_[STAPGEN_COUNT_tx_no_call]++;
        else {
            slot.is_followed = true;
            slot.called = call->called;
            slot.thread = call->thread;
            slot.transport = shim_time;
        }
    }

    void sends_datagram(Slot& slot, Bytes& bytes) {
        if (slot.place != Place::nowhere) return;
        auto& socket = *sockets_[bytes.next(tcp_sockets)];
        begins(slot, false, bytes.next(100), 0);
        slot.is_datagram = true;
        auto& skb = slot.down->skb;
        skb.sk = socket.sk();
        stapgen_insert_call_of_thread(socket.key(), 0);
        const s64 called = shim_time;
        const void* fault = nullptr;
        if (bytes.next(5) == 0) skb.sk = nullptr;  // another's, which a softirq sends
        const s64 found = stapgen_pop_datagram_call(&skb, &fault);
        must(found == (skb.sk != nullptr ? called : 0), "another call's time");
        if (found == 0) return;
        STAPGEN_ADD(tx_datagrams);
        counts_[STAPGEN_COUNT_tx_datagrams]++;
        stapgen_tx_at_udp(&skb, called, slot.down->skb.len, &fault);
        slot.is_followed = true;
        slot.called = called;
        slot.thread = stapgen_this_thread_of();
        slot.transport = shim_time;
    }

    /// Between a device's queue and its driver: another head, or pieces.
    void changes(Slot& slot, Bytes& bytes) {
        if (slot.place != Place::in_device || slot.is_cut || slot.is_moved) return;
        slot.other.emplace(!slot.is_datagram, 1);
        std::memcpy(slot.other->bytes, slot.own->bytes, sizeof(slot.own->bytes));
        const void* fault = nullptr;
        if (bytes.next(2) != 0) {
            stapgen_tx_cut(&slot.down->skb, &slot.other->skb, &fault);
            stapgen_tx_cut(&slot.down->skb, reinterpret_cast<sk_buff*>(-12L), &fault);
            slot.is_cut = true;
        } else {
            slot.down->skb.head = slot.other->skb.head;
            slot.down->skb.data = slot.other->skb.data;
            slot.is_moved = true;
        }
    }

    void reaches_driver(Slot& slot) {
        if (slot.place == Place::nowhere) return;
        const void* fault = nullptr;
        const auto* found = stapgen_pop_tx_packet(slot.last(), &fault);
        if (slot.place != Place::in_device) {
            must(found == nullptr, "a packet leaves that no device has");
            return;
        }
        if (slot.is_followed && slot.is_wanted_device) {
            must(found != nullptr, "a packet does not leave");
            must(found->called == slot.called && found->at.since == slot.transport && found->ip == slot.ip &&
                     found->queued == slot.queued && found->thread == slot.thread &&
                     bool(found->is_datagram) == slot.is_datagram,
                 "a packet leaves with another's times");
            counts_[STAPGEN_COUNT_tx_reported]++;
        } else {
            must(found == nullptr, "a packet leaves that is not followed");
            if (slot.is_followed) counts_[STAPGEN_COUNT_tx_unwanted]++;
        }
        ends(slot);
    }

    void is_dropped(Slot& slot) {
        if (slot.place == Place::nowhere) return;
        const void* fault = nullptr;
        // A copy of a packet socket's: it has the head, and is another skb.
        sk_buff copy = slot.down->skb;
        if (slot.place != Place::in_tcp && !slot.is_moved && !slot.is_cut) stapgen_tx_dropped(&copy, &fault);
        stapgen_tx_dropped(slot.last(), &fault);
        if (slot.is_followed) counts_[STAPGEN_COUNT_tx_dropped]++;
        ends(slot);
    }
    static void ends(Slot& slot) {
        slot.place = Place::nowhere;
        slot.is_followed = false;
    }

    void closes(unsigned which, bool is_seen) {
        auto& socket = *sockets_[which];
        if (is_seen) stapgen_erase_tx_calls(socket.key());
        std::erase_if(calls_, [&](const Call& call) { return call.sk == socket.key(); });
        tcp_[which] = {};
        if (is_seen) return;
        becomes_another(socket);
        // The next one's first segment finds the old calls, and not as its own.
        const void* fault = nullptr;
        stapgen_tx_call call;
        const auto id = stapgen_socket_id_of(socket.sk(), &fault);
        must(stapgen_find_tx_call(socket.key(), &id, 0x7fffffff, &call) == STAPGEN_NO_CALLS,
             "another connection's call");
    }

    void check() override {
        for (int what = 0; what < STAPGEN_COUNTS; ++what)
            must(stapgen_count_now(what) == counts_[what], stapgen_counter_names[what]);
        must(rows_in_use(stapgen_tx_calls) == calls_.size(), "another number of calls waits");
        long followed = 0, places = 0;
        for (const auto& slot : slots_)
            followed += slot.is_followed;
        for (const auto& place : stapgen_tx_packets_places)
            places += place.at.key != 0;
        must(places == followed, "another number of packets is followed");
        must(count(STAPGEN_COUNT_tx_segments) + count(STAPGEN_COUNT_tx_datagrams) ==
                 count(STAPGEN_COUNT_tx_unwanted) + count(STAPGEN_COUNT_tx_filtered) + count(STAPGEN_COUNT_tx_no_call) +
                     count(STAPGEN_COUNT_tx_dropped) + count(STAPGEN_COUNT_tx_no_ip) + count(STAPGEN_COUNT_tx_evicted) +
                     count(STAPGEN_COUNT_tx_reported) + followed,
             "seen is not what became of it");
    }

    std::array<Slot, slots> slots_;
    std::array<TcpState, tcp_sockets> tcp_{};
    std::deque<Call> calls_;  ///< the oldest first
};
