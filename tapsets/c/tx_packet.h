/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sent packets with data on their way from TCP or UDP to the driver, by the skb->head they had there.
 *
 * TCP keeps the skb it sends and passes a clone down, so what leaves __tcp_transmit_skb is another skb than what
 * entered it. Both have the same skb->head. Between a device's queue and its driver it may be moved to another head (a
 * device without scatter-gather needs it in one piece), where its skb identifies it, or be cut in software, where
 * it is followed by the head of its first piece. A device on top of others (bond, VLAN, bridge) passes it on: the last
 * one counts.
 *
 * The end of its way may not be seen. What has its head later is known not to be it by packet_id.h and its socket: it
 * is counted as mismatched. */
#ifndef STAPGEN_TX_PACKET_H
#define STAPGEN_TX_PACKET_H

#include "alias.h"
#include "counters.h"
#include "head_set.h"
#include "packet_id.h"
#include "socket_kind.h"
#include "stages.h"
#include "tx_call.h"

struct stapgen_tx_packet {
    struct stapgen_place at; /* since: when TCP or UDP had it */
    unsigned long skb;       /* the one last seen with it; 0: none since TCP */
    unsigned long sk;
    struct stapgen_packet_id id;
    s64 called, ip, queued; /* ns; 0: not seen */
    s64 thread;             /* below its process */
    u64 comm[2];
    u32 bytes;
    u8 is_datagram, is_wanted_device;
};
STAPGEN_SET(stapgen_tx_packets, stapgen_tx_packet, STAPGEN_PACKET_BITS);
/* What each has waited for in app-tcp, by its place: tx_clock.h. */
static struct stapgen_waits stapgen_tx_packets_waits[STAPGEN_PLACES << STAPGEN_PACKET_BITS];
/* A first piece's head, and an skb in a device's queue, to the head of the whole. */
STAPGEN_ALIASES(stapgen_cut_heads);
STAPGEN_ALIASES(stapgen_queued_skbs);
/* What has left from this CPU last. */
STAPGEN_PER_CPU(struct stapgen_tx_packet, stapgen_tx_popped);
STAPGEN_PER_CPU(struct stapgen_waits, stapgen_tx_popped_waits);

static inline struct stapgen_waits* stapgen_tx_waits_of(const struct stapgen_tx_packet* packet) {
    return &stapgen_tx_packets_waits[packet - stapgen_tx_packets_places];
}

/* Those that it has. Gives a bit for each. */
static inline u32 stapgen_tx_stages(const struct stapgen_tx_packet* packet, s64 now, s64* stages) {
    stages[packet->is_datagram ? STAPGEN_APP_UDP : STAPGEN_APP_TCP] = packet->at.since - packet->called;
    stages[packet->is_datagram ? STAPGEN_UDP_IP : STAPGEN_TCP_IP] = packet->ip - packet->at.since;
    stages[STAPGEN_IP_DRV] = packet->queued - packet->ip;
    stages[STAPGEN_QDISC] = now - packet->queued;
    return 1U << STAPGEN_IP_DRV | 1U << STAPGEN_QDISC |
           (packet->is_datagram ? 1U << STAPGEN_APP_UDP | 1U << STAPGEN_UDP_IP
                                : 1U << STAPGEN_APP_TCP | 1U << STAPGEN_TCP_IP);
}

/* One of TCP's or UDP's has that head: none of those before it has. */
static inline void stapgen_tx_begins(unsigned long head) {
    if (stapgen_erase_key(stapgen_tx_packets, head)) STAPGEN_ADD(tx_mismatched);
    stapgen_erase_alias(stapgen_cut_heads, head);
}
/* Bytes from now on, of a call that began then. SKB: 0 where it is TCP's own, whose clone goes down. CLOCK: of TCP's
 * socket, NULL if it has none. */
static inline void stapgen_insert_tx_packet(unsigned long head, unsigned long skb, unsigned long sk,
                                            const struct stapgen_packet_id* id, const struct stapgen_tx_call* call,
                                            u32 bytes, int is_datagram, const struct stapgen_tx_clock* clock, s64 now) {
    enum stapgen_inserted inserted;
    struct stapgen_tx_packet* packet =
        (struct stapgen_tx_packet*)stapgen_insert(stapgen_tx_packets, head, now, &inserted);
    if (inserted == STAPGEN_EVICTED) STAPGEN_ADD(tx_evicted);
    if (!packet) return;
    packet->skb = skb;
    packet->sk = sk;
    packet->id = *id;
    packet->called = call->called;
    packet->ip = packet->queued = 0;
    packet->thread = call->thread;
    packet->comm[0] = call->comm[0];
    packet->comm[1] = call->comm[1];
    packet->bytes = bytes;
    packet->is_datagram = is_datagram;
    packet->is_wanted_device = 0;
    if (STAPGEN_TX_WAITS) {
        const struct stapgen_tx_hands* hands = STAPGEN_THIS_CPU(stapgen_tx_hands);
        struct stapgen_waits* waits = stapgen_tx_waits_of(packet);
        waits->said = 0;
        if (clock && hands->clock == clock->begun) stapgen_subtract_waits(waits, &clock->hands, &hands->at);
    }
}
/* TCP sends: a segment with data that is sent for the first time is followed, or counted as what it is. */
static inline void stapgen_tx_at_tcp(const struct sock* sk, const struct sk_buff* skb, int is_wanted, int has_target,
                                     const void** fault) {
    enum { STAPGEN_SYN = 2 };
    struct stapgen_tx_call call = {};
    struct stapgen_tx_clock* clock;
    struct stapgen_packet_id segment;
    struct stapgen_socket_id id;
    enum stapgen_caller caller;
    s64 now;
    u32 seq, snd_nxt = STAPGEN_READ(&tcp_sk(sk)->snd_nxt, fault);
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    stapgen_tx_begins((unsigned long)skb->head);
    seq = TCP_SKB_CB(skb)->seq;
    /* TCP Fast Open: the sequence number was not known as the call began. Data may also follow the SYN. */
    if (TCP_SKB_CB(skb)->tcp_flags & STAPGEN_SYN) stapgen_begin_tx_calls((unsigned long)sk, seq);
    if (!skb->len) {
        STAPGEN_ADD(tx_acks);
        return;
    }
    if (stapgen_after(snd_nxt, seq)) {
        STAPGEN_ADD(tx_retransmits);
        return;
    }
    id = stapgen_socket_id_of(sk, fault);
    segment = stapgen_id_of_segment(seq);
    if (*fault) return;
    STAPGEN_ADD(tx_segments);
    caller = stapgen_find_tx_call((unsigned long)sk, &id, seq, &call);
    now = STAPGEN_NOW();
    clock = stapgen_find_tx_clock((unsigned long)sk);
    if (clock) {
        stapgen_tick(clock, now);
        clock->sent_seq = seq;
        clock->has_sent = 1;
    }
    if (!is_wanted)
        STAPGEN_ADD(tx_unwanted);
    else if (stapgen_is_mptcp(sk, fault))
        STAPGEN_ADD(tx_mptcp);
    else if (has_target && (caller == STAPGEN_NO_CALLS || (caller == STAPGEN_CALL_FOUND && !call.thread)))
        STAPGEN_ADD(tx_filtered);
    else if (caller != STAPGEN_CALL_FOUND)
        STAPGEN_ADD(tx_no_call);
    else
        stapgen_insert_tx_packet((unsigned long)skb->head, 0, (unsigned long)sk, &segment, &call, skb->len, 0, clock,
                                 now);
}
/* A datagram of this thread, whose call began then, is handed to IP. */
static inline void stapgen_tx_at_udp(const struct sk_buff* skb, s64 called, u32 bytes, const void** fault) {
    struct stapgen_tx_call call = {};
    struct stapgen_packet_id id;
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    id = stapgen_id_of_datagram(skb, fault);
    if (*fault) return;
    stapgen_tx_begins((unsigned long)skb->head);
    call.called = called;
    call.thread = stapgen_this_thread_of();
    memcpy(call.comm, current->comm, sizeof(call.comm));
    stapgen_insert_tx_packet((unsigned long)skb->head, (unsigned long)skb, (unsigned long)skb->sk, &id, &call, bytes, 1,
                             NULL, STAPGEN_NOW());
}

static inline int stapgen_erase_tx_packet(struct stapgen_tx_packet* packet, unsigned long skb) {
    unsigned long head = READ_ONCE(packet->at.key);
    stapgen_erase_alias(stapgen_queued_skbs, skb);
    return head && stapgen_erase(&packet->at, head);
}
/* Whether an skb has that packet, or its first piece. Devices may have taken its socket from it. */
static inline int stapgen_is_tx_packet(const struct stapgen_tx_packet* packet, const struct sk_buff* skb, int is_piece,
                                       const void** fault) {
    if (skb->sk && (unsigned long)skb->sk != packet->sk) return 0;
    return stapgen_is_same_packet(&packet->id, skb, is_piece, fault);
}
/* The packet of an skb that can be read as a whole. NULL: it is not followed; whoever had its head is gone. */
static inline struct stapgen_tx_packet* stapgen_find_tx_packet(const struct sk_buff* skb, const void** fault) {
    unsigned long head = (unsigned long)skb->head, key = (unsigned long)skb, first;
    struct stapgen_tx_packet *packet = (struct stapgen_tx_packet*)stapgen_find(stapgen_tx_packets, head), *whole;
    if (packet && stapgen_is_tx_packet(packet, skb, 0, fault)) return packet;
    if (packet && !*fault && stapgen_erase(&packet->at, head)) STAPGEN_ADD(tx_mismatched);
    first = stapgen_head_by_alias(stapgen_cut_heads, head);
    whole = (struct stapgen_tx_packet*)stapgen_find(stapgen_tx_packets, first);
    if (whole && stapgen_is_tx_packet(whole, skb, 1, fault)) return whole;
    first = stapgen_head_by_alias(stapgen_queued_skbs, key);
    whole = (struct stapgen_tx_packet*)stapgen_find(stapgen_tx_packets, first);
    return whole && whole->skb == key && stapgen_is_tx_packet(whole, skb, 0, fault) ? whole : NULL;
}

/* What it has waited for in app-tcp. In a full table another socket may have got the clock as it was sent. */
static inline void stapgen_tx_divide(struct stapgen_waits* waits, const struct stapgen_tx_packet* packet) {
    waits->said = 0;
    if (packet->is_datagram) return;
    if (STAPGEN_TX_WAITS) stapgen_copy_waits(waits, stapgen_tx_waits_of(packet));
    stapgen_settle_waits(waits, packet->at.since - packet->called, STAPGEN_TX_WAIT_undivided);
}
/* It leaves IP's output hook: whether it is followed, and was not there before. A tunnel's device sends it there once
 * more. */
static inline int stapgen_tx_at_ip(const struct sk_buff* skb, const void** fault) {
    struct stapgen_tx_packet* packet;
    int is_first;
    if (!STAPGEN_IS_READABLE(skb, fault)) return 0;
    stapgen_erase_alias(stapgen_queued_skbs, (unsigned long)skb); /* of a packet that had this skb before */
    if (!stapgen_find(stapgen_tx_packets, (unsigned long)skb->head)) return 0;
    packet = stapgen_find_tx_packet(skb, fault);
    if (!packet || *fault) return 0;
    is_first = !packet->ip;
    if (is_first) {
        struct stapgen_packet_id id = stapgen_packet_id_at(skb, stapgen_network_header_of(skb), fault);
        if (id.ip) packet->id = id;
    }
    packet->ip = STAPGEN_NOW();
    packet->skb = (unsigned long)skb;
    return is_first;
}
/* A filter leaves it out there. */
static inline void stapgen_tx_unwanted(const struct sk_buff* skb, const void** fault) {
    STAPGEN_ADD(tx_unwanted);
    stapgen_erase_key(stapgen_tx_packets, stapgen_head(skb, fault));
}
/* It is handed to a device, and whether that is one that is asked for. */
static inline void stapgen_tx_at_device(const struct sk_buff* skb, int is_wanted, const void** fault) {
    struct stapgen_tx_packet* packet;
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    packet = stapgen_find_tx_packet(skb, fault);
    if (!packet || *fault) return;
    packet->queued = STAPGEN_NOW();
    packet->skb = (unsigned long)skb;
    stapgen_set_alias(stapgen_queued_skbs, (unsigned long)skb, READ_ONCE(packet->at.key));
    if (is_wanted) packet->is_wanted_device = 1;
}
/* It was cut in software: the first of its pieces, or an error, which is a negative number near 0. */
static inline void stapgen_tx_cut(const struct sk_buff* skb, const struct sk_buff* piece, const void** fault) {
    struct stapgen_tx_packet* packet;
    unsigned long head;
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    packet = stapgen_find_tx_packet(skb, fault);
    if (!packet || packet->skb != (unsigned long)skb || !piece || (unsigned long)piece >= -4096UL) return;
    head = stapgen_head(piece, fault);
    if (*fault) return;
    stapgen_erase_alias(stapgen_queued_skbs, (unsigned long)skb);
    stapgen_set_alias(stapgen_cut_heads, head, READ_ONCE(packet->at.key));
}
/* The last driver gets it. NULL: it is not followed or this skb is not the one, or its way is not known or not wanted,
 * when it is counted and forgotten. Else it is counted as reported. */
static inline const struct stapgen_tx_packet* stapgen_pop_tx_packet(const struct sk_buff* skb, const void** fault) {
    struct stapgen_tx_packet *packet, *popped;
    unsigned long head;
    if (!STAPGEN_IS_READABLE(skb, fault)) return NULL;
    head = (unsigned long)skb->head;
    packet = stapgen_find_tx_packet(skb, fault);
    if (!packet || !packet->queued || (READ_ONCE(packet->at.key) == head && packet->skb != (unsigned long)skb))
        return NULL;
    if (stapgen_has_lower_device(skb, fault) || *fault) return NULL;
    stapgen_erase_alias(stapgen_cut_heads, head);
    popped = STAPGEN_THIS_CPU(stapgen_tx_popped);
    *popped = *packet;
    if (STAPGEN_WAITS) stapgen_tx_divide(STAPGEN_THIS_CPU(stapgen_tx_popped_waits), packet);
    if (!stapgen_erase_tx_packet(packet, (unsigned long)skb)) return NULL;
    if (!popped->is_wanted_device)
        STAPGEN_ADD(tx_unwanted);
    else if (!popped->ip)
        STAPGEN_ADD(tx_no_ip);
    else
        STAPGEN_ADD(tx_reported);
    return popped->is_wanted_device && popped->ip ? popped : NULL;
}
/* It is freed. Until IP's output hook the skb is not known: there it has no copies beside TCP's own. */
static inline void stapgen_tx_dropped(const struct sk_buff* skb, const void** fault) {
    struct stapgen_tx_packet* packet;
    unsigned long head;
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    head = (unsigned long)skb->head;
    packet = stapgen_find_tx_packet(skb, fault);
    if (!packet || *fault) return;
    if (READ_ONCE(packet->at.key) == head && packet->skb && packet->skb != (unsigned long)skb) return;
    stapgen_erase_alias(stapgen_cut_heads, head);
    if (stapgen_erase_tx_packet(packet, (unsigned long)skb)) STAPGEN_ADD(tx_dropped);
}

#endif
