// SPDX-License-Identifier: GPL-2.0-or-later
// Received packets, as the tables have them and as a plain model has them: the same after each event, or an exception.
#pragma once

#ifndef STAPGEN_RX_QUEUED
#define STAPGEN_RX_QUEUED 7
#endif
#include "world.h"

// world.h is first: it has what the C is made of.
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "c/aggregate_rx.h"
#include "c/print_rx.h"
#include "model.h"

class RxWorld : public Model {
  public:
    RxWorld() {
        clear(stapgen_rx_packets);
        clear(stapgen_rx_queues);
        std::ranges::fill(stapgen_rx_skbs, stapgen_alias{});
        std::memset(&stapgen_rx_datagrams, 0, sizeof(stapgen_rx_datagrams));
    }

  private:
    static constexpr unsigned slots = 8;
    struct Way {
        s64 driver = 0, ip = 0, transport = 0;
        long payload = -1;
        u16 id = 0;
    };
    struct Queued {
        u32 end, bytes;
        s64 driver, ip, transport;
        unsigned long queue;
        u16 id = 0;  // of a datagram
    };
    struct Slot {
        std::optional<Packet> packet;
        bool is_tcp = false;
        unsigned socket = 0;
        u32 payload = 0;
    };
    struct TcpState {
        u32 rcv_nxt = 0xfffffff0, copied = 0xfffffff0;  // it wraps soon
    };

    void happens(Bytes& bytes) override {
        const unsigned i = bytes.next(slots);
        Slot& slot = slots_[i];
        const sk_buff* skb = slot.packet ? &slot.packet->skb : nullptr;
        const void* fault = nullptr;
        const bool is_bad = skb != nullptr && bytes.next(64) == 63;
        if (is_bad) shim_bad_begin = skb, shim_bad_end = skb + 1;
        switch (bytes.next(10)) {
            case 0:
            case 1:
                arrives_anew(slot, bytes);
                break;
            case 2:
                if (skb == nullptr) break;
                stapgen_rx_at_driver(skb, &fault);
                if (fault == nullptr) ways_[skb->head] = {shim_time, 0, 0, -1, slot.packet->id()};
                break;
            case 3:
                if (skb == nullptr) break;
                stapgen_rx_at_ip(skb, &fault);
                if (fault == nullptr) way_of(slot).ip = shim_time;
                break;
            case 4:
                if (skb != nullptr) enters_transport(slot, fault);
                break;
            case 5:
                if (skb != nullptr) meets_socket(slot, fault);
                break;
            case 6:
                if (skb != nullptr) is_dropped(slot, fault);
                break;
            case 7:
                reads(bytes);
                break;
            case 8:
                closes(bytes.next(tcp_sockets), bytes.next(2) != 0);
                break;
            default: {
                // All of its way at once, as most packets go.
                if (skb == nullptr || is_bad) break;
                stapgen_rx_at_driver(skb, &fault);
                ways_[skb->head] = {shim_time, 0, 0, -1, slot.packet->id()};
                stapgen_rx_at_ip(skb, &fault);
                way_of(slot).ip = shim_time;
                enters_transport(slot, fault);
                meets_socket(slot, fault);
            }
        }
        must(fault == nullptr || is_bad, "what can be read was not read");
        shim_bad_begin = shim_bad_end = nullptr;
    }

    /// That of a slot's packet, a new one if another packet had its head.
    void end_way_of_another(const Slot& slot) {
        const auto found = ways_.find(slot.packet->skb.head);
        if (found != ways_.end() && found->second.id != slot.packet->id()) ways_.erase(found);
    }
    Way& way_of(const Slot& slot) {
        end_way_of_another(slot);
        auto& way = ways_[slot.packet->skb.head];
        way.id = slot.packet->id();
        return way;
    }

    void arrives_anew(Slot& slot, Bytes& bytes) {
        slot.is_tcp = bytes.next(3) != 0;
        slot.socket = bytes.next(tcp_sockets);
        slot.payload = bytes.next(slot.is_tcp ? 5 : 3);
        // A head is used again while its old way, or its datagram, may still be known.
        const auto& of = tcp_[slot.socket];
        slot.packet.emplace(slot.is_tcp, slot.payload, of.rcv_nxt + bytes.next(8) - 2);
    }

    void enters_transport(Slot& slot, const void*& fault) {
        const sk_buff* skb = &slot.packet->skb;
        const auto had = shim_time;
        stapgen_rx_at_transport(skb, slot.is_tcp, &fault);
        if (fault != nullptr) return;
        end_way_of_another(slot);
        if (slot.is_tcp && slot.payload == 0) {
            ways_.erase(skb->head);
            must(shim_time == had, "no time for a segment without data");
            return;
        }
        counts_[STAPGEN_COUNT_rx_arrived]++;
        auto& way = way_of(slot);
        way.transport = shim_time;
        way.payload = slot.payload;
        if (!slot.is_tcp) of_udp_ = {skb->head, false};
    }

    /// Its way as it meets its socket; none: it is not followed. A datagram that is not the one that UDP works on is a
    /// copy or a piece of that one, as all have the same ports.
    std::optional<Way> meets(const sk_buff* skb, bool is_tcp, u32 payload) {
        const bool is_here = ways_.contains(skb->head) && ways_[skb->head].transport != 0;
        const bool is_divided = !is_tcp && (skb->head != of_udp_.head || (of_udp_.has_met && !is_here));
        if (is_divided && of_udp_.has_met) {
            counts_[STAPGEN_COUNT_rx_arrived]++;
            counts_[STAPGEN_COUNT_rx_divided]++;
        } else {
            const auto found = ways_.find(is_divided ? of_udp_.head : skb->head);
            if (found == ways_.end() || found->second.transport == 0) return {};
            met_ = found->second;
            ways_.erase(found);
            if (met_.ip < met_.driver) met_.ip = 0;
            if (met_.driver > met_.transport || met_.ip > met_.transport) met_.driver = met_.ip = 0;
            if (is_divided || skb->head == of_udp_.head) of_udp_.has_met = true;
        }
        if (is_divided) {
            ways_.erase(skb->head);
            met_.payload = payload;
        }
        return met_;
    }

    void meets_socket(Slot& slot, const void*& fault) {
        const sk_buff* skb = &slot.packet->skb;
        auto& of = tcp_[slot.socket];
        auto& socket = *sockets_[slot.socket];
        socket.tcp.rcv_nxt = of.rcv_nxt;
        must(stapgen_queue_rx_packet(socket.sk(), skb, slot.is_tcp, &fault) == 0, "its payload is known");
        if (fault != nullptr) return;
        end_way_of_another(slot);
        if (!slot.is_tcp) std::erase_if(queued_, [&](const Queued& other) { return other.queue == key_of(skb); });
        const auto known = meets(skb, slot.is_tcp, slot.payload);
        if (!known) return;
        const Way way = *known;
        const u32 payload = static_cast<u32>(way.payload);
        u32 end = 0;
        if (slot.is_tcp) std::memcpy(&end, skb->cb + 4, 4);
        counts_[STAPGEN_COUNT_rx_queued]++;
        if (slot.is_tcp && s32(end - of.rcv_nxt) <= 0) return void(counts_[STAPGEN_COUNT_rx_retransmitted]++);
        if (way.driver == 0) return void(counts_[STAPGEN_COUNT_rx_no_driver]++);
        if (way.ip == 0) return void(counts_[STAPGEN_COUNT_rx_no_ip]++);
        if (queued_.size() == STAPGEN_RX_QUEUED) {
            evict_oldest();
        }
        const Queued packet{end,
                            payload,
                            way.driver,
                            way.ip,
                            way.transport,
                            slot.is_tcp ? socket.key() : key_of(skb),
                            slot.is_tcp ? u16{0} : slot.packet->id()};
        if (slot.is_tcp)
            queue_segment(packet, of.rcv_nxt);
        else {
            queued_.push_back(packet);
        }
        if (slot.is_tcp && s32(end - payload - of.rcv_nxt) <= 0) of.rcv_nxt = end;
    }

    /// Of the first row of each list the one that entered TCP or UDP first. Pieces of one datagram entered together:
    /// which of these goes depends on where their skbs lie.
    void evict_oldest() {
        std::set<u32> lists;
        auto oldest = queued_.end();
        for (auto row = queued_.begin(); row != queued_.end(); ++row) {
            if (!lists.insert(stapgen_hash(row->queue, STAPGEN_LIST_BITS)).second) continue;
            if (oldest == queued_.end() || row->transport < oldest->transport ||
                (row->transport == oldest->transport && !stapgen_has_rx_queued(row->queue)))
                oldest = row;
        }
        queued_.erase(oldest);
        counts_[STAPGEN_COUNT_rx_evicted]++;
    }

    /// What is queued to a socket, by sequence numbers.
    std::vector<Queued*> queue_of(unsigned long queue) {
        std::vector<Queued*> rows;
        for (auto& row : queued_)
            if (row.queue == queue) rows.push_back(&row);
        std::ranges::stable_sort(rows, [](const Queued* a, const Queued* b) { return s32(a->end - b->end) < 0; });
        return rows;
    }
    static bool has(const Queued& all, const Queued& part) {
        return s32(part.end - all.end) <= 0 && s32((all.end - all.bytes) - (part.end - part.bytes)) <= 0;
    }
    void queue_segment(Queued segment, u32 rcv_nxt) {
        const Queued *before = nullptr, *behind = nullptr;
        for (const auto* row : queue_of(segment.queue)) {
            if (s32(row->end - segment.end) <= 0)
                before = row;
            else if (behind == nullptr)
                behind = row;
        }
        const auto place = std::ranges::find_if(queued_, [&](const Queued& row) { return &row == behind; });
        if (before != nullptr && has(segment, *before)) {
            counts_[STAPGEN_COUNT_rx_retransmitted]++;
            const auto had = before->transport;
            queued_.insert(place, segment);
            std::erase_if(queued_,
                          [&](const Queued& row) { return row.queue == segment.queue && row.transport == had; });
        } else if ((before != nullptr && has(*before, segment)) || (behind != nullptr && has(*behind, segment))) {
            counts_[STAPGEN_COUNT_rx_retransmitted]++;
        } else {
            u32 from = segment.end - segment.bytes, to = segment.end;
            if (s32(rcv_nxt - from) > 0) from = rcv_nxt;
            if (before != nullptr && s32(before->end - from) > 0) from = before->end;
            if (behind != nullptr && s32(to - (behind->end - behind->bytes)) > 0) to = behind->end - behind->bytes;
            segment.bytes = s32(to - from) > 0 ? to - from : 0;
            queued_.insert(place, segment);
        }
    }

    void is_dropped(Slot& slot, const void*& fault) {
        const sk_buff* skb = &slot.packet->skb;
        stapgen_rx_dropped(skb, 1, &fault);
        if (fault != nullptr) return;
        const auto found = ways_.find(skb->head);
        if (found != ways_.end() && found->second.driver != 0 && found->second.id != slot.packet->id()) {
            ways_.erase(found);
        } else if (found != ways_.end() && found->second.driver != 0) {
            const bool has_data = slot.payload > 0 || !slot.is_tcp;
            // A datagram's bytes are told with its header there.
            if (found->second.payload < 0 && has_data)
                counts_[found->second.transport != 0 ? STAPGEN_COUNT_rx_arrived : STAPGEN_COUNT_rx_dropped_before]++;
            ways_.erase(found);
        }
        stapgen_erase_rx_queue(key_of(skb));
        std::erase_if(queued_, [&](const Queued& row) { return row.queue == key_of(skb); });
    }

    void reads(Bytes& bytes) {
        const unsigned which = bytes.next(tcp_sockets + slots);
        const bool is_datagram = which >= tcp_sockets, is_wanted = bytes.next(4) != 0;
        unsigned long queue;
        u32 copied = 0;
        if (is_datagram) {
            const auto& packet = slots_[which - tcp_sockets].packet;
            if (!packet) return;
            queue = key_of(&packet->skb);
            shim_bad_begin = shim_bad_end = nullptr;
            // Its skb was another one's.
            std::erase_if(queued_, [&](const Queued& row) { return row.queue == queue && row.id != packet->id(); });
        } else {
            auto& of = tcp_[which];
            of.copied += bytes.next(9);
            if (s32(of.copied - of.rcv_nxt) > 0) of.copied = of.rcv_nxt;
            sockets_[which]->tcp.copied_seq = copied = of.copied;
            queue = sockets_[which]->key();
        }
        const void* fault = nullptr;
        for (const auto* expected : queue_of(queue)) {
            if (s32(expected->end - copied) > 0) break;
            const auto* found = stapgen_pop_read(queue, is_datagram, is_wanted, &fault);
            must(found != nullptr && fault == nullptr, "a packet that was read does not come out");
            must(found->driver == expected->driver && found->ip == expected->ip &&
                     found->transport == expected->transport && found->bytes == expected->bytes,
                 "another packet's times or bytes come out");
            counts_[is_wanted ? STAPGEN_COUNT_rx_reported : STAPGEN_COUNT_rx_filtered]++;
            std::erase_if(queued_, [&](const Queued& row) { return &row == expected; });
            // The others have moved.
            return reads_on(queue, is_datagram, is_wanted, copied);
        }
        must(stapgen_pop_read(queue, is_datagram, is_wanted, &fault) == nullptr,
             "a packet comes out that was not read");
    }
    void reads_on(unsigned long queue, bool is_datagram, bool is_wanted, u32 copied) {
        const void* fault = nullptr;
        while (const auto* found = stapgen_pop_read(queue, is_datagram, is_wanted, &fault)) {
            const auto rows = queue_of(queue);
            must(!rows.empty() && s32(rows.front()->end - copied) <= 0, "more comes out than was read");
            must(rows.front()->transport == found->transport, "packets come out in another order");
            counts_[is_wanted ? STAPGEN_COUNT_rx_reported : STAPGEN_COUNT_rx_filtered]++;
            std::erase_if(queued_, [&](const Queued& row) { return &row == rows.front(); });
        }
        const auto rows = queue_of(queue);
        must(rows.empty() || s32(rows.front()->end - copied) > 0, "what was read stays");
    }

    /// Its end is seen, or it is missed and the next one has its address: other ports, or the same and another cookie.
    void closes(unsigned which, bool is_seen) {
        auto& socket = *sockets_[which];
        const auto queue = socket.key();
        if (is_seen) {
            const auto rows = stapgen_erase_rx_queue(queue);
            must(rows == queue_of(queue).size(), "another number of packets was unread");
            std::erase_if(queued_, [&](const Queued& row) { return row.queue == queue; });
        } else {
            becomes_another(socket);
            // Whoever comes first to it finds the other one's packets, and ends them.
            const void* fault = nullptr;
            const auto id = stapgen_socket_id_of(socket.sk(), &fault);
            must(stapgen_pop_rx_queued(queue, &id, 0) == nullptr, "another connection's packet comes out");
            std::erase_if(queued_, [&](const Queued& row) { return row.queue == queue; });
        }
        tcp_[which] = {};
    }

    void check() override {
        for (int what = 0; what < STAPGEN_COUNTS; ++what)
            must(stapgen_count_now(what) == counts_[what], stapgen_counter_names[what]);
        must(rows_in_use(stapgen_rx_queues) == queued_.size(), "another number of packets waits");
        for (const auto& row : queued_)
            must(stapgen_has_rx_queued(row.queue), "a packet is not there that waits");
        const auto count = [&](int what) { return counts_[what]; };
        // What ended otherwise is unread: the sockets that closed have it.
        const long ended = count(STAPGEN_COUNT_rx_reported) + count(STAPGEN_COUNT_rx_filtered) +
                           count(STAPGEN_COUNT_rx_dropped) + count(STAPGEN_COUNT_rx_retransmitted) +
                           count(STAPGEN_COUNT_rx_no_driver) + count(STAPGEN_COUNT_rx_no_ip) +
                           count(STAPGEN_COUNT_rx_evicted) + static_cast<long>(queued_.size());
        must(ended <= count(STAPGEN_COUNT_rx_queued), "more ended than was queued");
        must(count(STAPGEN_COUNT_rx_queued) <= count(STAPGEN_COUNT_rx_arrived), "more was queued than arrived");
    }

    std::array<Slot, slots> slots_;
    std::array<TcpState, tcp_sockets> tcp_{};
    std::map<const unsigned char*, Way> ways_;
    struct {
        const unsigned char* head = nullptr;
        bool has_met = false;
    } of_udp_;                   ///< the datagram that UDP works on
    Way met_;                    ///< of what met its socket last
    std::deque<Queued> queued_;  ///< the oldest first, but for segments that were overtaken
};
