/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets that wait for a reader. A queue is a socket, in the order of sequence numbers, because TCP merges
 * neighbours into one skb there: a segment is read when copied_seq has passed its last byte. A datagram is a queue of
 * its own, named by its skb. */
#ifndef STAPGEN_RX_QUEUED_H
#define STAPGEN_RX_QUEUED_H

#include "counters.h"
#include "queues.h"
#include "rx_kind.h"
#include "rx_wait.h"
#include "socket_id.h"
#include "stages.h"

#ifndef STAPGEN_RX_QUEUED
#define STAPGEN_RX_QUEUED 16384
#endif

struct stapgen_rx_queued {
    struct stapgen_socket_id id; /* of a datagram its own */
    u64 number;                  /* no other has it */
    u32 end_seq;                 /* the sequence number behind its data; of a datagram 0 */
    u32 bytes;
    u32 segments;        /* of the wire, which GRO has merged; 0: nobody wants to know */
    u8 may_be_unwrapped; /* it is counted as encapsulated, and not as queued, until it is read */
    s64 driver, handed, ip, transport;
    u64 device[2];
};
STAPGEN_TABLE(stapgen_rx_queues, stapgen_rx_queued, STAPGEN_RX_QUEUED);
static struct stapgen_rx_wait stapgen_rx_queues_waits[STAPGEN_RX_QUEUED + 1]; /* by the packet's row */
STAPGEN_PER_CPU(u64, stapgen_rx_numbers);
/* What this CPU has taken out last. */
STAPGEN_PER_CPU(struct stapgen_rx_queued, stapgen_rx_popped);
STAPGEN_PER_CPU(struct stapgen_rx_wait, stapgen_rx_popped_wait);

static inline u32 stapgen_begin_seq(const struct stapgen_rx_queued* packet) {
    return packet->end_seq - packet->bytes;
}

/* Of a packet that is read, into an array of STAPGEN_RX_ROOM: those that it has. Gives a bit for each. */
static inline u32 stapgen_rx_stages(const struct stapgen_rx_queued* packet, s64 now, int is_datagram, s64* stages) {
    u32 has = 1U << STAPGEN_DRV_IP | (is_datagram ? 1U << STAPGEN_IP_UDP | 1U << STAPGEN_UDP_APP
                                                  : 1U << STAPGEN_IP_TCP | 1U << STAPGEN_TCP_APP);
    if (packet->handed != packet->driver) has |= 1U << STAPGEN_DRV_DRV;
    if (packet->handed != packet->driver) stages[STAPGEN_DRV_DRV] = packet->handed - packet->driver;
    stages[STAPGEN_DRV_IP] = packet->ip - packet->handed;
    stages[is_datagram ? STAPGEN_IP_UDP : STAPGEN_IP_TCP] = packet->transport - packet->ip;
    stages[is_datagram ? STAPGEN_UDP_APP : STAPGEN_TCP_APP] = now - packet->transport;
    return has;
}

/* What this CPU has taken out last has waited for since TCP or UDP had it. */
static inline void stapgen_divide_popped(struct stapgen_waits* waits, const struct stapgen_rx_queued* packet, s64 now) {
    stapgen_divide_to_app(waits, STAPGEN_THIS_CPU(stapgen_rx_popped_wait), packet->transport, now);
}

/* Whether all bytes of a segment are in another one. */
static inline int stapgen_has_segment(u32 all, u32 part) {
    const struct stapgen_rx_queued *a = &stapgen_rx_queues_rows[all].of, *b = &stapgen_rx_queues_rows[part].of;
    return all && part && !stapgen_after(b->end_seq, a->end_seq) &&
           !stapgen_after(stapgen_begin_seq(a), stapgen_begin_seq(b));
}
static inline u32 stapgen_drop_rx_rows(unsigned long queue) {
    u32 at, rows = 0;
    while ((at = stapgen_first_row(&stapgen_rx_queues, queue)) != 0) {
        rows += !stapgen_rx_queues_rows[at].of.may_be_unwrapped;
        stapgen_drop_row(&stapgen_rx_queues, at);
    }
    return rows;
}
/* All that waits in a queue: how many that were of those that are counted as queued. */
static inline u32 stapgen_erase_rx_queue(unsigned long queue) {
    u32 rows;
    if (!stapgen_may_have(&stapgen_rx_queues, queue)) return 0;
    stapgen_lock_queue(&stapgen_rx_queues, queue);
    rows = stapgen_drop_rx_rows(queue);
    stapgen_unlock_queue(&stapgen_rx_queues, queue);
    return rows;
}
/* What is there of a socket that had this address before: nobody will read it. */
static inline void stapgen_drop_rx_of_others(unsigned long queue, const struct stapgen_socket_id* id) {
    u32 at = stapgen_last_row(&stapgen_rx_queues, queue);
    if (at && !stapgen_is_same_socket(&stapgen_rx_queues_rows[at].of.id, id)) stapgen_drop_rx_rows(queue);
}

/* Bytes of a new segment that neither have been received before nor are in the ones beside it. */
static inline u32 stapgen_new_bytes(const struct stapgen_rx_queued* packet, u32 rcv_nxt, u32 before, u32 behind) {
    u32 to = packet->end_seq, from = stapgen_begin_seq(packet);
    const struct stapgen_rx_queues_row* rows = stapgen_rx_queues_rows;
    if (stapgen_after(rcv_nxt, from)) from = rcv_nxt;
    if (before && stapgen_after(rows[before].of.end_seq, from)) from = rows[before].of.end_seq;
    if (behind && stapgen_after(to, stapgen_begin_seq(&rows[behind].of))) to = stapgen_begin_seq(&rows[behind].of);
    return stapgen_after(to, from) ? to - from : 0;
}
/* Under the lock: all bytes up to REACH are there, and what follows them in the queue; READER was looked at. */
static inline void stapgen_rx_are_ready(unsigned long queue, u32 reach, const struct stapgen_rx_socket* socket,
                                        const struct stapgen_thread_time* reader) {
    const struct stapgen_table* table = &stapgen_rx_queues;
    u32 at, from = 0;
    s64 now = reader->at;
    for (at = stapgen_last_row(table, queue); at && !stapgen_rx_queues_waits[at].wanted;
         at = stapgen_row_before(table, at))
        from = at;
    for (at = from; at; at = stapgen_next_row(table, at)) {
        const struct stapgen_rx_queued* of = &stapgen_rx_queues_rows[at].of;
        if (stapgen_rx_queues_waits[at].is_in_backlog || stapgen_after(stapgen_begin_seq(of), reach)) break;
        if (stapgen_after(of->end_seq, reach)) reach = of->end_seq;
        if (!stapgen_rx_queues_waits[at].ready) stapgen_rx_queues_waits[at].ready = now;
    }
    if (socket->lowat > 1 && reach - socket->copied < socket->lowat) return;
    for (at = from; at && stapgen_rx_queues_waits[at].ready; at = stapgen_next_row(table, at)) {
        stapgen_rx_queues_waits[at].wanted = now;
        stapgen_rx_queues_waits[at].was_first =
            !stapgen_after(stapgen_begin_seq(&stapgen_rx_queues_rows[at].of), socket->copied);
        stapgen_rx_queues_waits[at].reader = *reader;
    }
}
/* Under the lock: the packet of that row begins to wait. */
static inline void stapgen_rx_begins_to_wait(unsigned long queue, int is_tcp, u32 at, u32 rcv_nxt) {
    const struct stapgen_rx_socket* socket = STAPGEN_THIS_CPU(stapgen_rx_socket);
    struct stapgen_rx_wait* wait = &stapgen_rx_queues_waits[at];
    wait->sk = socket->sk;
    wait->processed = wait->ready = wait->wanted = wait->reached = 0;
    wait->was_first = 0;
    wait->was_in_backlog = wait->is_in_backlog = is_tcp && socket->is_owned;
    wait->was_early = is_tcp && stapgen_after(stapgen_begin_seq(&stapgen_rx_queues_rows[at].of), rcv_nxt);
    if (!wait->sk || wait->is_in_backlog || wait->was_early) return;
    if (is_tcp) {
        stapgen_rx_are_ready(queue, stapgen_rx_queues_rows[at].of.end_seq, socket, &socket->reader);
    } else {
        wait->ready = wait->wanted = socket->reader.at;
        wait->reader = socket->reader;
    }
}
/* Under the lock. One that overtook others waits behind them. What came before and did not stay, or came twice before
 * its turn: the later one counts, unless it is only a part of what waits (a tail loss probe). */
static inline u64 stapgen_insert_segment(unsigned long queue, const struct stapgen_rx_queued* segment, u32 rcv_nxt) {
    const struct stapgen_table* table = &stapgen_rx_queues;
    u32 at, behind = 0, dropped = 0, before = stapgen_last_row(table, queue);
    while (before && stapgen_after(stapgen_rx_queues_rows[before].of.end_seq, segment->end_seq)) {
        behind = before;
        before = stapgen_row_before(table, before);
    }
    at = stapgen_add_row(table, queue, behind, segment->transport);
    stapgen_rx_queues_rows[at].of = *segment;
    if (stapgen_has_segment(at, before))
        dropped = before;
    else if (stapgen_has_segment(before, at) || stapgen_has_segment(behind, at))
        dropped = at;
    if (dropped) {
        stapgen_drop_row(table, dropped);
        STAPGEN_ADD(rx_retransmitted);
        if (dropped == at) return 0;
    } else {
        stapgen_rx_queues_rows[at].of.bytes = stapgen_new_bytes(segment, rcv_nxt, before, behind);
    }
    if (STAPGEN_WAITS) stapgen_rx_begins_to_wait(queue, 1, at, rcv_nxt);
    return segment->number;
}
/* A segment or a datagram waits for a thread: its number, or 0 with what came of it counted. Where the table is full
 * the oldest of all queues is evicted. */
static inline u64 stapgen_insert_rx_queued(unsigned long queue, int is_tcp, struct stapgen_rx_queued* packet,
                                           u32 rcv_nxt) {
    const struct stapgen_table* table = &stapgen_rx_queues;
    u64 number;
    u32 at;
    int room;
    packet->may_be_unwrapped = !is_tcp && *STAPGEN_THIS_CPU(stapgen_rx_may_be_unwrapped);
    if (packet->may_be_unwrapped) {
        STAPGEN_ADD(rx_encapsulated);
        if (!packet->driver || !packet->ip) return 0;
    } else {
        STAPGEN_ADD(rx_queued);
    }
    if (is_tcp && !stapgen_after(packet->end_seq, rcv_nxt)) {
        STAPGEN_ADD(rx_retransmitted);
        return 0;
    }
    if (!packet->driver) {
        STAPGEN_ADD(rx_no_driver);
        return 0;
    }
    if (!packet->ip) {
        STAPGEN_ADD(rx_no_ip);
        return 0;
    }
    room = stapgen_evict_if_full(table);
    if (room > 0 && !stapgen_rx_queues_rows[room].of.may_be_unwrapped) STAPGEN_ADD(rx_evicted);
    if (room < 0 && !packet->may_be_unwrapped) STAPGEN_ADD(rx_evicted);
    if (room < 0) return 0;
    /* Numbers of two CPUs differ in their lower bits. */
    number = packet->number = (*STAPGEN_THIS_CPU(stapgen_rx_numbers) += NR_CPUS) + smp_processor_id() + 1;
    stapgen_lock_queue(table, queue);
    if (is_tcp) {
        stapgen_drop_rx_of_others(queue, &packet->id);
        number = stapgen_insert_segment(queue, packet, rcv_nxt);
    } else {
        stapgen_drop_rx_rows(queue);
        at = stapgen_add_row(table, queue, 0, packet->transport);
        stapgen_rx_queues_rows[at].of = *packet;
        if (STAPGEN_WAITS) stapgen_rx_begins_to_wait(queue, 0, at, 0);
    }
    stapgen_unlock_queue(table, queue);
    return number;
}
/* TCP works on a segment that has met its socket before: in the backlog. Or on one that is not followed. */
static inline void stapgen_rx_leaves_backlog(const struct sock* sk, const struct sk_buff* skb, const void** fault) {
    const struct stapgen_table* table = &stapgen_rx_queues;
    const struct stapgen_rx_socket* socket = STAPGEN_THIS_CPU(stapgen_rx_socket);
    unsigned long queue = (unsigned long)sk;
    u32 at, seq = TCP_SKB_CB(skb)->seq, end_seq = TCP_SKB_CB(skb)->end_seq, rcv_nxt;
    int were_there = 0;
    if (seq == end_seq || !stapgen_may_have(table, queue)) return;
    rcv_nxt = STAPGEN_READ(&tcp_sk(sk)->rcv_nxt, fault);
    stapgen_look_at_socket(sk, 1, fault);
    if (*fault) return;
    stapgen_lock_queue(table, queue);
    for (at = stapgen_last_row(table, queue); at && !stapgen_rx_queues_waits[at].wanted;
         at = stapgen_row_before(table, at)) {
        const struct stapgen_rx_queued* of = &stapgen_rx_queues_rows[at].of;
        struct stapgen_rx_wait* wait = &stapgen_rx_queues_waits[at];
        if (!wait->is_in_backlog || stapgen_after(of->end_seq, end_seq) || stapgen_after(seq, stapgen_begin_seq(of)))
            continue;
        wait->processed = socket->reader.at;
        wait->is_in_backlog = 0;
        wait->was_early = stapgen_after(seq, rcv_nxt);
        were_there = 1;
    }
    if (were_there && !stapgen_after(seq, rcv_nxt)) stapgen_rx_are_ready(queue, end_seq, socket, &socket->reader);
    stapgen_unlock_queue(table, queue);
}
/* The same of a packet at its socket, all in one: whether its payload is not known yet, and nothing was done. */
static inline int stapgen_queue_rx_packet(const struct sock* sk, const struct sk_buff* skb, int is_tcp,
                                          const void** fault) {
    const struct stapgen_rx_packet* of;
    struct stapgen_rx_queued packet = {};
    u32 rcv_nxt = 0;
    struct stapgen_rx_packet* way;
    int kind;
    enum stapgen_popped popped;
    if (!STAPGEN_IS_READABLE(skb, fault)) return 0;
    /* The datagram that had this skb before: nobody has read it. */
    if (!is_tcp) stapgen_erase_rx_queue((unsigned long)skb);
    way = stapgen_rx_packet_at_socket(skb, is_tcp, fault);
    if (!way) {
        if (STAPGEN_WAITS && is_tcp) stapgen_rx_leaves_backlog(sk, skb, fault);
        return 0;
    }
    kind = stapgen_rx_kind(sk, is_tcp, fault);
    if (is_tcp) {
        packet.end_seq = stapgen_segment_end_of(skb, fault);
        packet.id = stapgen_socket_id_of(sk, fault);
        rcv_nxt = stapgen_rcv_nxt_of(sk, TCP_SKB_CB(skb)->seq, fault);
    } else {
        packet.id = stapgen_datagram_id_of(skb, fault);
    }
    if (STAPGEN_WAITS) {
        stapgen_look_at_socket(sk, is_tcp, fault);
        packet.segments = stapgen_wire_segments_of(skb, way->payload, fault);
    }
    if (*fault) return 0;
    popped = stapgen_pop_rx_packet_at(way, (unsigned long)skb->head);
    if (popped != STAPGEN_POPPED) return popped == STAPGEN_NOT_YET;
    if (kind >= 0) {
        stapgen_add(kind);
        return 0;
    }
    of = STAPGEN_THIS_CPU(stapgen_rx_met);
    packet.bytes = of->payload;
    packet.driver = of->driver;
    packet.handed = of->handed;
    packet.ip = of->ip;
    packet.transport = of->transport;
    packet.device[0] = of->device[0];
    packet.device[1] = of->device[1];
    stapgen_insert_rx_queued(is_tcp ? (unsigned long)sk : (unsigned long)skb, is_tcp, &packet, rcv_nxt);
    return 0;
}

/* Takes the oldest packet whose last byte was copied out of its queue; NULL: there is none. */
static inline const struct stapgen_rx_queued* stapgen_pop_rx_queued(unsigned long queue,
                                                                    const struct stapgen_socket_id* id, u32 copied) {
    const struct stapgen_table* table = &stapgen_rx_queues;
    struct stapgen_rx_queued* popped = NULL;
    u32 at;
    stapgen_lock_queue(table, queue);
    stapgen_drop_rx_of_others(queue, id);
    at = stapgen_first_row(table, queue);
    if (at && !stapgen_after(stapgen_rx_queues_rows[at].of.end_seq, copied)) {
        popped = STAPGEN_THIS_CPU(stapgen_rx_popped);
        *popped = stapgen_rx_queues_rows[at].of;
        if (STAPGEN_WAITS) stapgen_copy_rx_wait(STAPGEN_THIS_CPU(stapgen_rx_popped_wait), &stapgen_rx_queues_waits[at]);
        stapgen_drop_row(table, at);
    }
    stapgen_unlock_queue(table, queue);
    return popped;
}
/* This thread has taken what it could from a socket: the next bytes are those of the first packet that waits. */
static inline void stapgen_ends_reading(unsigned long queue, int is_datagram, u32 copied) {
    const struct stapgen_table* table = &stapgen_rx_queues;
    struct stapgen_rx_wait* popped = STAPGEN_THIS_CPU(stapgen_rx_popped_wait);
    unsigned long sk = is_datagram ? popped->sk : queue;
    struct stapgen_thread_time time;
    u32 at;
    popped->sk = 0;
    if (!sk || in_serving_softirq()) return;
    time = *stapgen_rx_look_at_this(0);
    STAPGEN_THIS_CPU(stapgen_rx_this_time)->tid = 0;
    stapgen_note_rx_reader(sk, &time);
    if (is_datagram || !stapgen_may_have(table, queue)) return;
    stapgen_lock_queue(table, queue);
    at = stapgen_first_row(table, queue);
    if (at && !stapgen_rx_queues_waits[at].reached && !stapgen_rx_queues_waits[at].was_first &&
        !stapgen_after(stapgen_begin_seq(&stapgen_rx_queues_rows[at].of), copied)) {
        stapgen_rx_queues_waits[at].reached = time.at;
        stapgen_rx_queues_waits[at].earlier_reader = time;
    }
    stapgen_unlock_queue(table, queue);
}
/* Of each packet that a wanted thread takes: since when it lay ready, in ns. NULL: nobody wants to know. */
static void (*stapgen_on_rx_read)(s64 ready);
/* The same of what a thread has taken from a socket, or of a datagram; counted as reported if the thread is a wanted
 * one. */
static inline const struct stapgen_rx_queued* stapgen_pop_read(unsigned long queue, int is_datagram, int is_wanted,
                                                               const void** fault) {
    const struct stapgen_rx_queued* popped;
    struct stapgen_socket_id id = {0, 0};
    u32 copied = 0;
    if (!stapgen_may_have(&stapgen_rx_queues, queue)) {
        if (STAPGEN_WAITS) stapgen_ends_reading(queue, is_datagram, 0);
        return NULL;
    }
    if (!is_datagram) {
        id = stapgen_socket_id_of((struct sock*)queue, fault);
        copied = STAPGEN_READ(&tcp_sk((struct sock*)queue)->copied_seq, fault);
    } else if (STAPGEN_IS_READABLE((const struct sk_buff*)queue, fault)) {
        id = stapgen_datagram_id_of((const struct sk_buff*)queue, fault);
    }
    if (*fault) return NULL;
    popped = stapgen_pop_rx_queued(queue, &id, copied);
    /* By sockmap, or by kTLS that copies: who reads it then is not known. */
    while (popped && in_serving_softirq()) {
        STAPGEN_ADD(rx_in_kernel);
        popped = stapgen_pop_rx_queued(queue, &id, copied);
    }
    if (STAPGEN_WAITS && !popped) stapgen_ends_reading(queue, is_datagram, copied);
    if (popped && popped->may_be_unwrapped) {
        stapgen_add_all(STAPGEN_NUMBER_OF(rx_encapsulated), -1);
        STAPGEN_ADD(rx_queued);
    }
    if (popped && is_wanted && stapgen_on_rx_read) {
        s64 wanted = STAPGEN_WAITS ? STAPGEN_THIS_CPU(stapgen_rx_popped_wait)->wanted : 0;
        stapgen_on_rx_read(wanted ? wanted : popped->transport);
    }
    if (STAPGEN_WAITS && popped && is_wanted) stapgen_add_all(STAPGEN_NUMBER_OF(rx_wire_segments), popped->segments);
    if (popped && is_wanted)
        STAPGEN_ADD(rx_reported);
    else if (popped)
        STAPGEN_ADD(rx_filtered);
    return popped;
}
static inline int stapgen_has_rx_queued(unsigned long queue) {
    int has;
    if (!stapgen_may_have(&stapgen_rx_queues, queue)) return 0;
    stapgen_lock_queue(&stapgen_rx_queues, queue);
    has = stapgen_first_row(&stapgen_rx_queues, queue) != 0;
    stapgen_unlock_queue(&stapgen_rx_queues, queue);
    return has;
}

#endif
