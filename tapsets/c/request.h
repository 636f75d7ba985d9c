/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of a request-response server, as it sees them. A queue is a TCP socket, or an odd number, a UDP socket with
 * one of its peers. In a queue are, oldest first, those whose answer is sent and has not left, those that are read, and
 * those that are not.
 *
 * TCP: one begins when a segment meets a socket that has no unread request; more segments until it is read are more of
 * it, and so is what is read before a reply. It is answered when the first byte that was sent after it has been read is
 * handed to a device, whichever thread sent it. UDP: each datagram is one, and the next datagram from that socket to
 * its sender is its answer, known again at the device by its head and its socket. Where several wait for one, it is
 * that of the oldest, if the thread that answers has read them in one go: each was there before the one before it was
 * read. Else one of them may never be answered, or another thread does that: all of them are ambiguous. */
#ifndef STAPGEN_REQUEST_H
#define STAPGEN_REQUEST_H

#include <net/inet_connection_sock.h>
#include <net/inet_hashtables.h>

#include "app_parts.h"
#include "app_samples.h"
#include "counters.h"
#include "queues.h"
#include "reader.h"
#include "rx_kind.h"
#include "socket_id.h"
#include "stages.h"
#include "which_end.h"

#ifndef STAPGEN_REQUESTS
#define STAPGEN_REQUESTS 4096
#endif
#ifndef STAPGEN_SOCKETS
#define STAPGEN_SOCKETS 8192
#endif

struct stapgen_request {
    s64 driver, ip, readable, woken, called, returned, sent; /* ns; 0: not yet, or passed over */
    s64 events;                                              /* of the wait that returned at `woken` */
    s64 thread;                                              /* that read it, below its process */
    u64 comm[2], device[2];
    u32 reply_seq;        /* of the first byte of its answer */
    u32 seq;              /* of its own; where ends are followed, as: */
    s64 last;             /* ns: its last segment left the driver */
    u32 asks;             /* print_end.h */
    unsigned long skb;    /* UDP: the datagram, until it is read */
    int may_be_unwrapped; /* UDP: it is counted as encapsulated, and not as a request, until it is read */
    unsigned long answer; /* UDP: stapgen_answer_key() */
    struct stapgen_packet_id answer_id;
    struct stapgen_app app;
    struct stapgen_app_samples samples;
};
STAPGEN_TABLE(stapgen_requests, stapgen_request, STAPGEN_REQUESTS);
/* What came to a TCP socket last: what is read from it after a reply is one more request. */
struct stapgen_socket {
    struct stapgen_socket_id id;
    s64 driver, ip, readable;
    u64 device[2];
    u32 seq;
    u32 answered, answered_by; /* where ends are followed: of the request that was answered last, and of its answer */
};
STAPGEN_TABLE_LOCKED_AS(stapgen_sockets, stapgen_socket, STAPGEN_SOCKETS, stapgen_requests);
/* Datagrams that nobody has read, by skb: the queue of their request, and where it is. */
struct stapgen_datagram {
    struct stapgen_place at;
    struct stapgen_socket_id id; /* its own */
    unsigned long queue;
    u32 row;
};
STAPGEN_SET(stapgen_datagrams, stapgen_datagram, 11);
/* The datagram that was queued on this CPU last, until its readers are woken. */
struct stapgen_waking {
    unsigned long sk, queue;
};
STAPGEN_PER_CPU(struct stapgen_waking, stapgen_waking);
/* By stapgen_answer_key() of an answer on its way to the device: its queue. */
STAPGEN_ALIASES(stapgen_answers);
/* What was answered from this CPU last. */
STAPGEN_PER_CPU(struct stapgen_request, stapgen_request_popped);

/* A UDP socket and the peer at this place of a packet, which was sent or received. */
enum { STAPGEN_FROM_PEER, STAPGEN_TO_PEER };
static inline unsigned long stapgen_peer_queue(const void* sk, const struct sk_buff* skb, int direction,
                                               const void** fault) {
    const unsigned char* ip = stapgen_network_header_of(skb);
    const unsigned char* address4 = ip + (direction == STAPGEN_TO_PEER ? 16 : 12);
    const unsigned char* address6 = ip + (direction == STAPGEN_TO_PEER ? 24 : 8);
    const unsigned char* port = stapgen_transport_header_of(skb) + (direction == STAPGEN_TO_PEER ? 2 : 0);
    u64 mixed = (u64)(unsigned long)sk * 31;
    if ((STAPGEN_READ(ip, fault) & 0xf0) == 0x40)
        mixed += STAPGEN_READ((const u32*)address4, fault);
    else
        mixed = (mixed + STAPGEN_READ((const u64*)address6, fault)) * 0x100000001b3ULL +
                STAPGEN_READ((const u64*)(address6 + 8), fault);
    mixed = mixed * 0x100000001b3ULL + STAPGEN_READ((const u16*)port, fault);
    return (unsigned long)(mixed ^ mixed >> 29) | 1;
}
static inline int stapgen_is_of_udp(unsigned long queue) {
    return queue & 1;
}

/* Requests are divided, and no packet filter names connections: those that programs open themselves are none. */
static int stapgen_servers_only;
/* Its port was chosen by connect(), or by sendto(): inet_hash_connect(), udp_lib_get_port(). */
static inline int stapgen_is_left_out_client(const struct sock* sk, int is_tcp, const void** fault) {
    const struct inet_bind_bucket* port;
    if (!stapgen_servers_only || !STAPGEN_IS_READABLE(sk, fault)) return 0;
    if (!is_tcp) return !(sk->sk_userlocks & SOCK_BINDPORT_LOCK);
    port = STAPGEN_READ(&inet_csk(sk)->icsk_bind_hash, fault);
    return port && STAPGEN_READ(&port->fastreuse, fault) < 0;
}

/* ---- under the lock of the queue ---- */

static inline void stapgen_drop_request(u32 at) {
    stapgen_close_app(&stapgen_requests_rows[at].of.app);
    stapgen_drop_row(&stapgen_requests, at);
}
/* Of TCP: the last one, if nobody has read it. */
static inline u32 stapgen_unread_request(unsigned long queue) {
    u32 at = stapgen_last_row(&stapgen_requests, queue);
    return at && !stapgen_requests_rows[at].of.returned ? at : 0;
}
/* The oldest that is read and not answered. */
static inline u32 stapgen_read_request(unsigned long queue) {
    u32 at = stapgen_first_row(&stapgen_requests, queue);
    while (at && stapgen_requests_rows[at].of.sent)
        at = stapgen_next_row(&stapgen_requests, at);
    return at && stapgen_requests_rows[at].of.returned ? at : 0;
}
/* Of UDP: that which this thread answers; 0: none. */
static inline u32 stapgen_answered_request(unsigned long queue, s64 thread) {
    enum { MOST = 64 }; /* that are looked at: behind those that are read there may be many that are not */
    u32 at, next, oldest = stapgen_read_request(queue), before = oldest;
    int is_ambiguous = 0, seen;
    for (at = oldest, seen = 0; at && seen < MOST; seen++, at = stapgen_next_row(&stapgen_requests, at)) {
        const struct stapgen_request *was = &stapgen_requests_rows[before].of, *is = &stapgen_requests_rows[at].of;
        if (at == oldest || !is->returned || is->sent) continue;
        if (was->thread != thread || is->thread != thread || is->ip > was->returned) is_ambiguous = 1;
        before = at;
    }
    if (!is_ambiguous) return oldest;
    for (at = oldest; at; at = next) {
        next = stapgen_next_row(&stapgen_requests, at);
        if (!stapgen_requests_rows[at].of.returned || stapgen_requests_rows[at].of.sent) continue;
        STAPGEN_ADD(request_ambiguous);
        stapgen_drop_request(at);
    }
    return 0;
}
/* Of UDP: that of a datagram, if it is still there. */
static inline u32 stapgen_request_by_datagram(const struct stapgen_datagram* of, unsigned long skb) {
    const struct stapgen_requests_row* at = &stapgen_requests_rows[of->row];
    return at->row.queue == of->queue && at->of.skb == skb ? of->row : 0;
}
/* Without a record. */
static inline void stapgen_end_request(u32 at) {
    if (stapgen_requests_rows[at].of.returned)
        STAPGEN_ADD(request_no_reply);
    else if (!stapgen_requests_rows[at].of.may_be_unwrapped)
        STAPGEN_ADD(request_unread);
    stapgen_drop_request(at);
}
/* Of TCP: the oldest one if its answer begins before a sequence number. */
static inline u32 stapgen_request_answered_before(unsigned long queue, u32 end_seq) {
    u32 at = stapgen_first_row(&stapgen_requests, queue);
    if (!at || !stapgen_requests_rows[at].of.sent) return 0;
    return stapgen_after(end_seq, stapgen_requests_rows[at].of.reply_seq) ? at : 0;
}
/* Of UDP: that with this answer. Answers are under way for as long as their call is: of many the oldest was dropped. */
static inline u32 stapgen_request_answered_by(unsigned long queue, unsigned long answer) {
    enum { MOST = 64 };
    u32 oldest = stapgen_first_row(&stapgen_requests, queue), at = oldest;
    int seen;
    for (seen = 0; at && stapgen_requests_rows[at].of.sent && seen < MOST; seen++) {
        if (stapgen_requests_rows[at].of.answer == answer) return at;
        at = stapgen_next_row(&stapgen_requests, at);
    }
    if (seen == MOST) stapgen_end_request(oldest);
    return 0;
}
static inline u32 stapgen_add_request(unsigned long queue, s64 driver, s64 ip, const u64* device) {
    u32 at = stapgen_add_row(&stapgen_requests, queue, 0, ip);
    struct stapgen_request* request = &stapgen_requests_rows[at].of;
    memset(request, 0, sizeof(*request));
    request->driver = driver;
    request->ip = ip;
    request->device[0] = device[0];
    request->device[1] = device[1];
    return at;
}
static inline void stapgen_end_requests(unsigned long queue) {
    u32 at;
    while ((at = stapgen_first_row(&stapgen_requests, queue)) != 0)
        stapgen_end_request(at);
}
/* Its row; 0: none. What is there of another socket, whose end was missed, ends. */
static inline u32 stapgen_find_socket(unsigned long sk, const struct stapgen_socket_id* id) {
    u32 at = stapgen_first_row(&stapgen_sockets, sk);
    if (!at || stapgen_is_same_socket(&stapgen_sockets_rows[at].of.id, id)) return at;
    stapgen_end_requests(sk);
    stapgen_drop_row(&stapgen_sockets, at);
    return 0;
}
static inline void stapgen_make_readable(unsigned long queue, s64 now) {
    u32 at = stapgen_last_row(&stapgen_requests, queue);
    if (at && !stapgen_requests_rows[at].of.returned && !stapgen_requests_rows[at].of.readable)
        stapgen_requests_rows[at].of.readable = now;
}

/* ---- places in the tables, before a lock is taken ---- */

/* A datagram's mark goes: whether it had one. */
static inline int stapgen_pop_datagram(unsigned long skb, struct stapgen_datagram* popped) {
    struct stapgen_datagram* datagram = (struct stapgen_datagram*)stapgen_find(stapgen_datagrams, skb);
    if (!datagram) return 0;
    *popped = *datagram;
    return popped->queue && stapgen_erase(&datagram->at, skb);
}
/* Where the table is full the oldest request gives way. */
static inline int stapgen_evict_request_if_full(void) {
    struct stapgen_datagram datagram;
    unsigned long skb;
    int list, is_counted;
    u32 at;
    if (stapgen_has_free_row(&stapgen_requests)) return 1;
    at = stapgen_lock_oldest(&stapgen_requests, &list);
    if (!at) return 0;
    skb = stapgen_requests_rows[at].of.skb;
    is_counted = !stapgen_requests_rows[at].of.may_be_unwrapped;
    stapgen_drop_request(at);
    stapgen_unlock(&stapgen_requests.locks[list].lock);
    if (is_counted) STAPGEN_ADD(request_evicted);
    if (skb) stapgen_pop_datagram(skb, &datagram);
    return 1;
}
/* Whether one may begin that came then: it is counted, and there is room. */
static inline int stapgen_begins_request(s64 driver, s64 ip) {
    STAPGEN_ADD(requests);
    if (!driver || !ip)
        STAPGEN_ADD(request_no_driver);
    else if (stapgen_evict_request_if_full())
        return 1;
    else
        STAPGEN_ADD(request_evicted);
    return 0;
}
/* A datagram that is not read, and will not be: it was dropped, or its end was missed and another one has its skb. */
static inline void stapgen_end_datagram(unsigned long skb) {
    struct stapgen_datagram datagram;
    u32 at;
    if (!stapgen_pop_datagram(skb, &datagram)) return;
    stapgen_lock_queue(&stapgen_requests, datagram.queue);
    at = stapgen_request_by_datagram(&datagram, skb);
    if (at) stapgen_end_request(at);
    stapgen_unlock_queue(&stapgen_requests, datagram.queue);
}

/* ---- what happens ---- */

static inline void stapgen_segment_arrives(unsigned long sk, const struct stapgen_socket_id* id,
                                           const struct stapgen_rx_packet* packet, u32 seq) {
    struct stapgen_socket* socket;
    u32 at;
    int begins;
    /* Made before it is known whether a request begins: what is not used now stays this CPU's. */
    int has_room = packet->driver && packet->ip && stapgen_evict_request_if_full();
    int has_socket_room = stapgen_evict_if_full(&stapgen_sockets) >= 0;
    stapgen_lock_queue(&stapgen_requests, sk);
    at = stapgen_find_socket(sk, id);
    if (!at && has_socket_room) {
        at = stapgen_add_row(&stapgen_sockets, sk, 0, packet->transport);
        memset(&stapgen_sockets_rows[at].of, 0, sizeof(stapgen_sockets_rows[at].of));
    }
    if (at) {
        socket = &stapgen_sockets_rows[at].of;
        socket->id = *id;
        socket->driver = packet->driver;
        socket->ip = packet->ip;
        socket->readable = 0;
        socket->device[0] = packet->device[0];
        socket->device[1] = packet->device[1];
        socket->seq = seq;
    }
    begins = !stapgen_unread_request(sk);
    has_room = has_room && at;
    if (begins && has_room) {
        at = stapgen_add_request(sk, packet->driver, packet->ip, packet->device);
        stapgen_requests_rows[at].of.seq = seq;
    }
    stapgen_unlock_queue(&stapgen_requests, sk);
    if (!begins) return;
    STAPGEN_ADD(requests);
    if (!packet->driver || !packet->ip)
        STAPGEN_ADD(request_no_driver);
    else if (!has_room)
        STAPGEN_ADD(request_evicted);
}
static inline void stapgen_datagram_arrives(unsigned long sk, unsigned long skb, unsigned long queue,
                                            const struct stapgen_socket_id* id,
                                            const struct stapgen_rx_packet* packet) {
    enum stapgen_inserted inserted;
    struct stapgen_datagram* datagram;
    struct stapgen_waking* waking;
    u32 at;
    int may_be_unwrapped = *STAPGEN_THIS_CPU(stapgen_rx_may_be_unwrapped);
    if (may_be_unwrapped) {
        STAPGEN_ADD(rx_encapsulated);
        if (!packet->driver || !packet->ip || !stapgen_evict_request_if_full()) return;
    } else if (!stapgen_begins_request(packet->driver, packet->ip)) {
        return;
    }
    stapgen_lock_queue(&stapgen_requests, queue);
    at = stapgen_add_request(queue, packet->driver, packet->ip, packet->device);
    stapgen_requests_rows[at].of.may_be_unwrapped = may_be_unwrapped;
    stapgen_requests_rows[at].of.skb = skb;
    stapgen_unlock_queue(&stapgen_requests, queue);
    datagram = (struct stapgen_datagram*)stapgen_insert(stapgen_datagrams, skb, packet->transport, &inserted);
    if (datagram) {
        datagram->id = *id;
        datagram->queue = queue;
        datagram->row = at;
    }
    waking = STAPGEN_THIS_CPU(stapgen_waking);
    waking->sk = sk;
    waking->queue = queue;
}
/* A segment or a datagram meets its socket: whether its payload is not known yet, and nothing was done. */
static inline int stapgen_request_arrives(const struct sock* sk, const struct sk_buff* skb, int is_tcp,
                                          const void** fault) {
    struct stapgen_socket_id id = {0, 0};
    struct stapgen_rx_packet* way;
    int kind;
    enum stapgen_popped popped;
    unsigned long queue = 0;
    int is_new = 1;
    u32 seq = 0, rcv_nxt;
    enum stapgen_end end = STAPGEN_NO_END;
    if (!STAPGEN_IS_READABLE(skb, fault)) return 0;
    if (!is_tcp) stapgen_end_datagram((unsigned long)skb);
    way = stapgen_rx_packet_at_socket(skb, is_tcp, fault);
    if (!way) return 0;
    kind = stapgen_rx_kind(sk, is_tcp, fault);
    if (is_tcp) {
        /* Not a retransmission. */
        seq = TCP_SKB_CB(skb)->seq;
        rcv_nxt = stapgen_rcv_nxt_of(sk, seq, fault);
        is_new = stapgen_after(stapgen_segment_end_of(skb, fault), rcv_nxt);
        if (stapgen_after(rcv_nxt, seq)) seq = rcv_nxt;
        id = stapgen_socket_id_of(sk, fault);
        end = stapgen_end_of(sk, fault);
    } else {
        queue = stapgen_peer_queue(sk, skb, STAPGEN_FROM_PEER, fault);
        id = stapgen_datagram_id_of(skb, fault);
    }
    if (*fault) return 0;
    popped = stapgen_pop_rx_packet_at(way, (unsigned long)skb->head);
    if (popped != STAPGEN_POPPED) return popped == STAPGEN_NOT_YET;
    if (stapgen_follows_ends() && end == STAPGEN_NO_END) return 0;
    if (stapgen_is_left_out_client(sk, is_tcp, fault)) {
        STAPGEN_ADD(rx_unwanted);
        return 0;
    }
    if (kind >= 0) {
        stapgen_add(kind);
        return 0;
    }
    if (stapgen_follows_ends() && end == STAPGEN_CLIENT) {
        if (is_new)
            stapgen_question_is_answered((unsigned long)sk, &id, STAPGEN_THIS_CPU(stapgen_rx_met), seq,
                                         TCP_SKB_CB(skb)->ack_seq);
        return 0;
    }
    if (is_tcp && is_new && stapgen_reads_tls(sk, fault))
        STAPGEN_ADD(request_ktls);
    else if (is_tcp && is_new)
        stapgen_segment_arrives((unsigned long)sk, &id, STAPGEN_THIS_CPU(stapgen_rx_met), seq);
    else if (!is_tcp)
        stapgen_datagram_arrives((unsigned long)sk, (unsigned long)skb, queue, &id, STAPGEN_THIS_CPU(stapgen_rx_met));
    return 0;
}
/* The readers of a socket are being woken. */
static inline void stapgen_request_readable(unsigned long sk) {
    struct stapgen_waking* waking = STAPGEN_THIS_CPU(stapgen_waking);
    unsigned long queue = sk;
    s64 now;
    u32 at;
    if (stapgen_follows_ends() && stapgen_question_is_readable(sk)) return;
    stapgen_clock_sees_readable(sk);
    if (waking->sk == sk) {
        queue = waking->queue;
        waking->sk = 0;
    } else if (!stapgen_may_have(&stapgen_sockets, sk)) {
        return;
    }
    now = STAPGEN_NOW();
    stapgen_lock_queue(&stapgen_requests, queue);
    if (!stapgen_is_of_udp(queue)) {
        at = stapgen_first_row(&stapgen_sockets, sk);
        if (at && !stapgen_sockets_rows[at].of.readable) stapgen_sockets_rows[at].of.readable = now;
    }
    stapgen_make_readable(queue, now);
    stapgen_unlock_queue(&stapgen_requests, queue);
}

static inline void stapgen_note_reader(u32 at, const struct stapgen_reader* reader) {
    struct stapgen_request* request = &stapgen_requests_rows[at].of;
    request->called = reader->called;
    request->woken = reader->woken;
    request->events = reader->events;
    request->thread = reader->thread;
    request->comm[0] = reader->comm[0];
    request->comm[1] = reader->comm[1];
}

/* Under the lock: a wanted thread has read from a socket; whether a request begins with it for which there is no room.
 */
static inline int stapgen_read_from(unsigned long sk, const struct stapgen_socket* socket,
                                    const struct stapgen_reader* reader, struct stapgen_clock* clock, s64 now,
                                    int has_room) {
    u32 unread = stapgen_unread_request(sk), at = stapgen_read_request(sk);
    int lacks_room = 0, is_first = !at;
    if (at && unread) {
        stapgen_drop_request(unread);
        STAPGEN_ADD(request_joined);
    } else if (!at) {
        at = unread;
        /* What came last and was not seen at its driver or IP was counted then. */
        if (!at && socket->driver && socket->ip) {
            STAPGEN_ADD(requests);
            lacks_room = !has_room;
            if (has_room) {
                at = stapgen_add_request(sk, socket->driver, socket->ip, socket->device);
                stapgen_requests_rows[at].of.readable = socket->readable;
                stapgen_requests_rows[at].of.seq = socket->seq;
            }
        }
        if (at) stapgen_note_reader(at, reader);
    }
    if (at) {
        stapgen_requests_rows[at].of.returned = now;
        stapgen_note_app(&stapgen_requests_rows[at].of.app, clock, sk, is_first, now);
        stapgen_follow_samples(&stapgen_requests_rows[at].of.samples, now);
    }
    return lacks_room;
}
/* This thread's receiving call over TCP returns with this number of bytes. */
static inline void stapgen_request_read(s64 bytes, int is_target, const void** fault) {
    struct stapgen_thread* thread = (struct stapgen_thread*)stapgen_find(stapgen_threads, stapgen_this_thread_key());
    struct stapgen_clock* clock = NULL;
    struct stapgen_socket_id id;
    struct stapgen_reader reader;
    struct stapgen_asker asker = {0, {0, 0, 0}};
    unsigned long sk = thread ? thread->sk : 0;
    int has_room, lacks_room = 0;
    u32 row, unread;
    s64 now;
    if (!sk) return;
    thread->sk = 0;
    if (stapgen_follows_ends() && bytes > 0 && stapgen_question_is_read(sk, thread, is_target, &asker)) {
        if (is_target) stapgen_thread_is_answered(sk, thread, &asker);
        return;
    }
    if (bytes > 0) stapgen_clock_reads_from(sk);
    /* Nothing came to it, nor to another of its list. */
    if (bytes <= 0 || !stapgen_may_have(&stapgen_sockets, sk)) return;
    now = STAPGEN_NOW();
    id = stapgen_socket_id_of((struct sock*)sk, fault);
    if (*fault) return;
    reader = stapgen_reader_of(thread);
    has_room = is_target && stapgen_evict_request_if_full();
    if (is_target) clock = stapgen_clock_reads(now);
    stapgen_lock_queue(&stapgen_requests, sk);
    row = stapgen_find_socket(sk, &id);
    if (row && is_target) {
        lacks_room = stapgen_read_from(sk, &stapgen_sockets_rows[row].of, &reader, clock, now, has_room);
    } else if (row && (unread = stapgen_unread_request(sk)) != 0) {
        STAPGEN_ADD(request_read_by_others);
        stapgen_drop_request(unread);
    }
    stapgen_unlock_queue(&stapgen_requests, sk);
    if (lacks_room) STAPGEN_ADD(request_evicted);
    if (is_target) stapgen_thread_serves(sk, thread, fault);
}
/* A thread sends over TCP. write_seq is still unchanged. */
static inline void stapgen_request_sent(unsigned long sk, const void** fault) {
    struct stapgen_clock* clock;
    struct stapgen_socket_id id;
    struct stapgen_app_samples samples;
    u32 seq, at, socket;
    int is_own = 0;
    s64 now, reader = 0;
    if (stapgen_end_of((struct sock*)sk, fault) == STAPGEN_CLIENT) {
        struct stapgen_for of = {0, 0, 0};
        stapgen_thread_asks(&of);
        stapgen_question_is_asked((struct sock*)sk, &of, fault);
        return;
    }
    if (!stapgen_may_have(&stapgen_requests, sk)) {
        stapgen_clock_asks(sk, 1, fault);
        return;
    }
    seq = STAPGEN_READ(&tcp_sk((struct sock*)sk)->write_seq, fault);
    id = stapgen_socket_id_of((struct sock*)sk, fault);
    if (*fault) return;
    clock = stapgen_clock_replies();
    now = STAPGEN_NOW();
    stapgen_lock_queue(&stapgen_requests, sk);
    socket = stapgen_find_socket(sk, &id);
    at = stapgen_read_request(sk);
    if (at) {
        struct stapgen_request* request = &stapgen_requests_rows[at].of;
        request->sent = now;
        request->reply_seq = seq;
        reader = request->thread;
        is_own = reader == stapgen_this_thread_of();
        stapgen_divide_app(&request->app, clock, is_own, now - request->returned, now, now);
        samples = request->samples;
        if (stapgen_follows_ends() && socket) request->last = stapgen_sockets_rows[socket].of.driver;
    }
    stapgen_unlock_queue(&stapgen_requests, sk);
    if (at) {
        stapgen_thread_replies(sk, reader);
        stapgen_reply_ends_samples(&samples, is_own, now);
    } else {
        stapgen_clock_asks(sk, 1, fault);
    }
}
static inline void stapgen_socket_closes(unsigned long sk) {
    u32 at;
    if (stapgen_follows_ends()) stapgen_question_ends(sk);
    if (!stapgen_may_have(&stapgen_sockets, sk)) return;
    stapgen_lock_queue(&stapgen_requests, sk);
    stapgen_end_requests(sk);
    at = stapgen_first_row(&stapgen_sockets, sk);
    if (at) stapgen_drop_row(&stapgen_sockets, at);
    stapgen_unlock_queue(&stapgen_requests, sk);
}

/* A thread has taken a datagram; or another one that has the skb of one which nobody will read. */
static inline void stapgen_datagram_read(const struct sk_buff* skb, int is_target, const void** fault) {
    struct stapgen_clock* clock;
    struct stapgen_datagram datagram;
    struct stapgen_socket_id id;
    struct stapgen_reader reader;
    s64 now;
    u32 at;
    if (!stapgen_find(stapgen_datagrams, (unsigned long)skb) || !STAPGEN_IS_READABLE(skb, fault)) return;
    id = stapgen_datagram_id_of(skb, fault);
    if (*fault || !stapgen_pop_datagram((unsigned long)skb, &datagram)) return;
    now = STAPGEN_NOW();
    reader = stapgen_reader_of((struct stapgen_thread*)stapgen_find(stapgen_threads, stapgen_this_thread_key()));
    clock = is_target ? stapgen_clock_reads(now) : NULL;
    stapgen_lock_queue(&stapgen_requests, datagram.queue);
    at = stapgen_request_by_datagram(&datagram, (unsigned long)skb);
    if (at && !stapgen_is_same_socket(&datagram.id, &id)) {
        stapgen_end_request(at);
        at = 0;
    }
    if (at && stapgen_requests_rows[at].of.may_be_unwrapped) {
        stapgen_requests_rows[at].of.may_be_unwrapped = 0;
        stapgen_add_all(STAPGEN_NUMBER_OF(rx_encapsulated), -1);
        STAPGEN_ADD(requests);
    }
    if (at && is_target) {
        stapgen_note_reader(at, &reader);
        stapgen_requests_rows[at].of.returned = now;
        stapgen_requests_rows[at].of.skb = 0;
        stapgen_note_app(&stapgen_requests_rows[at].of.app, clock, (unsigned long)skb->sk, 1, now);
        stapgen_follow_samples(&stapgen_requests_rows[at].of.samples, now);
    } else if (at) {
        STAPGEN_ADD(request_read_by_others);
        stapgen_drop_request(at);
    }
    stapgen_unlock_queue(&stapgen_requests, datagram.queue);
}
/* By its head and its socket an answer is known again: the head alone may be another packet's, once the answer was
 * dropped. */
static inline unsigned long stapgen_answer_key(const struct sk_buff* skb) {
    return stapgen_mixed((unsigned long)skb->head, (unsigned long)skb->sk);
}
/* One is sent, in a call that began then. */
static inline void stapgen_datagram_answers(const struct sk_buff* skb, s64 called, const void** fault) {
    struct stapgen_packet_id id;
    struct stapgen_clock* clock;
    struct stapgen_app_samples samples;
    unsigned long queue, answer;
    int is_own = 0;
    u32 at, dropped;
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    id = stapgen_id_of_datagram(skb, fault);
    answer = stapgen_answer_key(skb);
    queue = stapgen_peer_queue(skb->sk, skb, STAPGEN_TO_PEER, fault);
    /* What had its head before was dropped. */
    if (stapgen_head_by_alias(stapgen_answers, answer)) stapgen_erase_alias(stapgen_answers, answer);
    if (*fault) return;
    if (!stapgen_may_have(&stapgen_requests, queue)) {
        stapgen_clock_asks((unsigned long)skb->sk, 0, fault);
        return;
    }
    clock = stapgen_clock_replies();
    stapgen_lock_queue(&stapgen_requests, queue);
    dropped = stapgen_request_answered_by(queue, answer);
    if (dropped) stapgen_end_request(dropped);
    at = stapgen_answered_request(queue, stapgen_this_thread_of());
    if (at) {
        struct stapgen_request* request = &stapgen_requests_rows[at].of;
        request->sent = called;
        request->answer = answer;
        request->answer_id = id;
        is_own = request->thread == stapgen_this_thread_of();
        stapgen_divide_app(&request->app, clock, is_own, called - request->returned, called, STAPGEN_NOW());
        samples = request->samples;
    }
    stapgen_unlock_queue(&stapgen_requests, queue);
    if (at) {
        stapgen_set_alias(stapgen_answers, answer, queue);
        stapgen_reply_ends_samples(&samples, is_own, called);
    } else {
        stapgen_clock_asks((unsigned long)skb->sk, 0, fault);
    }
}

/* The queue whose requests a packet may answer that is handed to a device; 0: none. */
static inline unsigned long stapgen_reply_of(const struct sk_buff* skb, const void** fault) {
    unsigned long answer, queue;
    if (!STAPGEN_IS_READABLE(skb, fault)) return 0;
    answer = stapgen_answer_key(skb);
    queue = stapgen_head_by_alias(stapgen_answers, answer);
    if (queue) {
        stapgen_erase_alias(stapgen_answers, answer);
        return queue;
    }
    queue = (unsigned long)skb->sk;
    if (!queue || (!stapgen_follows_ends() && !stapgen_may_have(&stapgen_requests, queue))) return 0;
    if (stapgen_is_in_tunnel(skb, fault)) return 0; /* it has left for that before */
    if (stapgen_follows_ends()) stapgen_end_sends(skb, fault);
    return stapgen_may_have(&stapgen_requests, queue) ? queue : 0;
}
/* Takes a request of a queue out whose answer is in what leaves, of TCP the oldest; NULL: there is none. */
static inline const struct stapgen_request* stapgen_pop_answered(unsigned long queue, const struct sk_buff* skb,
                                                                 const void** fault) {
    struct stapgen_request* popped = NULL;
    struct stapgen_packet_id packet = {0, 0, 0};
    struct stapgen_socket_id id = {0, 0};
    u32 end_seq = 0, at;
    if (!STAPGEN_IS_READABLE(skb, fault)) return NULL;
    if (stapgen_is_of_udp(queue)) {
        packet = stapgen_packet_id_at(skb, stapgen_network_header_of(skb), fault);
    } else {
        long data;
        data = stapgen_tcp_payload_of(skb, fault);
        if (data <= 0) return NULL;
        end_seq = ntohl(STAPGEN_READ((const __be32*)(stapgen_transport_header_of(skb) + 4), fault)) + data;
        id = stapgen_socket_id_of((struct sock*)queue, fault);
    }
    if (*fault) return NULL;
    stapgen_lock_queue(&stapgen_requests, queue);
    if (!stapgen_is_of_udp(queue)) stapgen_find_socket(queue, &id);
    at = stapgen_is_of_udp(queue) ? stapgen_request_answered_by(queue, stapgen_answer_key(skb))
                                  : stapgen_request_answered_before(queue, end_seq);
    if (at && stapgen_is_of_udp(queue) && stapgen_differs_in_id(&stapgen_requests_rows[at].of.answer_id, &packet, 0)) {
        STAPGEN_ADD(request_mismatched);
        stapgen_drop_request(at);
    } else if (at) {
        popped = STAPGEN_THIS_CPU(stapgen_request_popped);
        *popped = stapgen_requests_rows[at].of;
        stapgen_drop_request(at);
        at = stapgen_follows_ends() ? stapgen_first_row(&stapgen_sockets, queue) : 0;
        if (at) {
            stapgen_sockets_rows[at].of.answered = popped->seq;
            stapgen_sockets_rows[at].of.answered_by = popped->reply_seq;
        }
    }
    stapgen_unlock_queue(&stapgen_requests, queue);
    if (popped) {
        STAPGEN_ADD(request_reported);
        stapgen_count_app(&popped->app);
    }
    return popped;
}

enum {
    STAPGEN_SOCK_RX,
    STAPGEN_SOCK_TCPIP,
    STAPGEN_SOCK_EPOLL,
    STAPGEN_SOCK_WAIT,
    STAPGEN_SOCK_READ,
    STAPGEN_SOCK_APP,
    STAPGEN_SOCK_TX
};
/* A place was passed over where data was there before the wait, or the thread waited inside the call: the next stage
 * then begins where the one before it ended. Gives the events, STAPGEN_NO_STAGE if none were waited for. */
static inline s64 stapgen_request_stages(const struct stapgen_request* request, s64 answered, s64* stages) {
    s64 from = request->readable ? request->readable : request->ip;
    s64 woken = request->woken < from ? 0 : request->woken, called;
    stages[STAPGEN_SOCK_RX] = request->ip - request->driver;
    stages[STAPGEN_SOCK_TCPIP] = request->readable ? request->readable - request->ip : STAPGEN_NO_STAGE;
    stages[STAPGEN_SOCK_EPOLL] = woken ? woken - from : STAPGEN_NO_STAGE;
    if (woken) from = woken;
    called = request->called < from ? 0 : request->called;
    stages[STAPGEN_SOCK_WAIT] = called ? called - from : STAPGEN_NO_STAGE;
    if (called) from = called;
    stages[STAPGEN_SOCK_READ] = request->returned - from;
    stages[STAPGEN_SOCK_APP] = request->sent - request->returned;
    stages[STAPGEN_SOCK_TX] = answered - request->sent;
    stages[STAPGEN_TOTAL] = answered - request->driver;
    return woken ? request->events : STAPGEN_NO_STAGE;
}

/* Those that nobody has read. */
static inline long stapgen_unread_requests(void) {
    long unread = 0;
    int list;
    u32 at;
    for (list = 0; list < STAPGEN_LISTS; list++) {
        stapgen_lock(&stapgen_requests.locks[list].lock);
        for (at = stapgen_requests.lists[list].first; at; at = stapgen_row_at(&stapgen_requests, at)->next)
            unread += !stapgen_requests_rows[at].of.returned && !stapgen_requests_rows[at].of.may_be_unwrapped;
        stapgen_unlock(&stapgen_requests.locks[list].lock);
    }
    return unread;
}

#endif
